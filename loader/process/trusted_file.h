// SPDX-License-Identifier: GPL-3.0-or-later
// Whose word a file's content is.
#pragma once

namespace auger {

// True when nobody but root and the user that auger runs as can have written the open file: it is
// theirs, writable for nobody else, and on a file system whose owners and modes can be believed,
// which those of users (FUSE) and other machines (NFS and the like) cannot. Of a file that was
// reached in another root this says nothing: the root of a container is that, too.
bool is_trusted_file(int fd);

// Whether the open file is a regular one whose owner and mode can be believed, as above.
bool has_believable_owner(int fd);

} // namespace auger
