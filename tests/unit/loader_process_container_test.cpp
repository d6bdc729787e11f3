// SPDX-License-Identifier: GPL-3.0-or-later
// Containers by their control groups, in folders that look like a machine's.
#include "loader/process/container.h"
#include "loader/process/container_names.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

namespace auger {
namespace {

using testing::HasSubstr;

const std::string web_id(64, 'a'), db_id = "abcd" + std::string(60, '1'),
                                   pod_id = "abce" + std::string(60, '2');

TEST(Containers, AreKnownByTheLastComponentOfTheirGroup) {
    const struct {
        std::string path, id, name;
    } cases[] = {
        {"/system.slice/docker-" + web_id + ".scope", web_id, ""},
        {"/docker/" + web_id, web_id, ""},
        {"/machine.slice/libpod-" + db_id + ".scope", db_id, ""},
        {"/libpod_parent/libpod-" + db_id, db_id, ""},
        {"/kubepods.slice/kubepods-pod7.slice/cri-containerd-" + pod_id + ".scope", pod_id, ""},
        {"/kubepods.slice/crio-" + pod_id + ".scope", pod_id, ""},
        {"/kubepods/burstable/pod7/" + pod_id, pod_id, ""},
        {"/lxc/build", "", "build"},
        {"/lxc.payload.build-2", "", "build-2"},
        {"/machine.slice/machine-my\\x2dguest.scope", "", "my-guest"},
        {"/machine.slice/systemd-nspawn@guest.service", "", "guest"},
    };
    for (const auto& one : cases) {
        SCOPED_TRACE(one.path);
        const auto found = container_of(one.path);
        ASSERT_TRUE(found);
        EXPECT_EQ(*found, (Container{one.id, one.name, one.path}));
    }
    for (const std::string& path :
         {std::string("/"), std::string(""), std::string("/system.slice/docker.service"),
          "/machine.slice/libpod-conmon-" + db_id + ".scope", std::string("/docker/buildkit"),
          std::string("/docker-xyz.scope"), std::string("/docker-.scope"),
          "/docker/" + web_id + "/init", "/docker/" + std::string(64, 'g'),
          std::string("/user.slice/user-1000.slice"), std::string("/abcdefabcdef")})
        EXPECT_FALSE(container_of(path)) << path;
}

TEST(Containers, MayHaveGroupsOfTheirOwn) {
    const std::string path = "/system.slice/docker-" + web_id + ".scope";
    for (const char* below : {"", "/init.scope", "/system.slice/cron.service"})
        EXPECT_EQ(outermost_container(path + below), container_of(path)) << below;
    // Which what runs in it names as it likes.
    EXPECT_EQ(outermost_container(path + "/kubepods/pod7/" + pod_id)->id, web_id);
    EXPECT_EQ(outermost_container("/../../kubepods/pod7/" + pod_id + "/x")->id, pod_id);
    EXPECT_FALSE(outermost_container("/user.slice/user-1000.slice"));
    EXPECT_FALSE(outermost_container(""));
}

TEST(Containers, ArePartsOfPods) {
    const std::string uid = "01234567-89ab-cdef-0123-456789abcdef",
                      unit = "01234567_89ab_cdef_0123_456789abcdef", hash(32, 'e');
    const std::pair<std::string, std::string> cases[] = {
        {"/kubepods/burstable/pod" + uid + "/" + web_id, uid},
        {"/kubepods/pod" + uid, uid},
        {"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + unit +
             ".slice/cri-containerd-" + web_id + ".scope",
         uid},
        {"/kubepods.slice/kubepods-pod" + unit + ".slice/crio-" + web_id + ".scope/inner", uid},
        {"/kubelet.slice/kubelet-kubepods-besteffort-pod" + unit + ".slice", uid},
        {"/kubepods/besteffort/pod" + hash + "/" + web_id, hash},
        {"/kubepods/pod" + uid + "/" + web_id + "/pod" + hash, uid}, // a claim of its own
        {"/kubepods.slice/kubepods-pod7.slice/crio-" + web_id + ".scope", ""},
        {"/kubepods/pod" + uid + "0", ""},
        {"/kubepods/pod" + unit, ""},
        {"/kubepods/tripod" + uid, ""},
        {"/kubepods.slice/kubepods-tripod" + unit + ".slice", ""},
        {"/kubepods/pod01234567-89ab-cdef-0123-456789abcdeg", ""},
        {"/kubepods/pod0123456-789ab-cdef-0123-456789abcdef", ""},
        {"/system.slice/docker-" + web_id + ".scope", ""},
        {"pod", ""},
        {"", ""},
    };
    for (const auto& [path, pod] : cases)
        EXPECT_EQ(kubernetes_pod_of(path), pod) << path;
}

class ContainerList : public testing::Test {
  protected:
    ContainerList() {
        group("system.slice/docker-" + web_id + ".scope/inner");
        group("system.slice/docker-" + web_id + ".scope/" + std::string(64, 'f'));
        group("machine.slice/libpod-" + db_id + ".scope");
        group("kubepods.slice/cri-containerd-" + pod_id + ".scope");
        group("lxc.payload.build");
        group("user.slice");
        file("var/lib/docker/containers/" + web_id + "/config.v2.json",
             R"({"ID":"x","Name":"/web"})");
        file("var/lib/containers/storage/overlay-containers/containers.json",
             R"([7,{"id":5},{"id":")" + db_id + R"(","names":["db"]}])");
        file("var/log/containers/shop-7f_default_cart-" + pod_id + ".log", "");
    }
    void group(const std::string& path) {
        std::filesystem::create_directories(folder_.path("cgroup/" + path));
    }
    void file(const std::string& path, const std::string& content) {
        std::filesystem::create_directories(
            std::filesystem::path(folder_.path(path)).parent_path());
        folder_.file(path, content);
    }
    std::vector<Container> list() {
        return *list_containers({folder_.path(""), folder_.path("cgroup")});
    }
    std::string name_of(std::string_view text) {
        const auto found = find_container(list(), text);
        return found ? found->name : found.error().message();
    }
    test::TemporaryFolder folder_;
};

TEST_F(ContainerList, FindsEachByNameIdOrTheIdsBeginning) {
    const auto containers = list();
    EXPECT_EQ(containers.size(), 4u); // what lies below a container is its own
    EXPECT_EQ(name_of("web"), "web");
    EXPECT_EQ(name_of("db"), "db");
    EXPECT_EQ(name_of("shop-7f/cart"), "shop-7f/cart");
    EXPECT_EQ(name_of("build"), "build");
    EXPECT_EQ(name_of(web_id), "web");
    EXPECT_EQ(name_of("aaaa"), "web");
    EXPECT_EQ(name_of("abcd"), "db");
    const auto web = find_container(containers, "web");
    ASSERT_TRUE(web);
    EXPECT_EQ(web->cgroup, "/system.slice/docker-" + web_id + ".scope");
}

TEST_F(ContainerList, NamesAreThoseOfTheRuntimesFiles) {
    uint64_t now = 1'000'000'000;
    ContainerFiles files({folder_.path(""), folder_.path("cgroup")}, [&] { return now; });
    EXPECT_EQ(files.names(web_id), (ContainerNames{"web", "", ""}));
    EXPECT_EQ(files.names(db_id), (ContainerNames{"db", "", ""}));
    EXPECT_EQ(files.names(pod_id), (ContainerNames{"cart", "shop-7f", "default"}));
    // A file that is written later is seen a second later, and then for good.
    const std::string late(64, '7');
    EXPECT_FALSE(files.names(late).known());
    file("var/log/containers/pay-0_prod_pay-" + late + ".log", "");
    now += 999'999'999;
    EXPECT_FALSE(files.names(late).known());
    now += 1;
    const ContainerNames pay{"pay", "pay-0", "prod"};
    EXPECT_EQ(files.names(late), pay);
    std::filesystem::remove_all(folder_.path("var/log"));
    now += 3'000'000'000;
    EXPECT_EQ(files.names(late), pay);
    EXPECT_FALSE(files.names(std::string(64, '8')).known());
}

TEST_F(ContainerList, TooShortOrUnknownOnesAreNotGuessed) {
    EXPECT_THAT(name_of("abc"), HasSubstr("none has that name"));
    EXPECT_THAT(name_of("we"), HasSubstr("running containers: "));
    EXPECT_THAT(name_of("we"), HasSubstr("web (aaaaaaaaaaaa)"));
    EXPECT_THAT(name_of(""), HasSubstr("none has that name"));
}

TEST_F(ContainerList, SeveralAreListed) {
    group("machine.slice/libpod-abcd" + std::string(60, '9') + ".scope");
    EXPECT_THAT(name_of("abcd"), HasSubstr("2 containers are meant by it (one of: "));
    EXPECT_THAT(name_of("abcd"), HasSubstr("db (abcd11111111)"));
    EXPECT_THAT(name_of("abcd"), HasSubstr("abcd99999999"));
    EXPECT_EQ(name_of("abcd1"), "db");
}

// Files of runtimes that are none, folders in their place, and host names instead.
TEST_F(ContainerList, WithoutANameThereIsTheHostName) {
    file("var/lib/docker/containers/" + web_id + "/config.v2.json", "{\"Name\":[\"/web\"]");
    file("cgroup/system.slice/docker-" + web_id + ".scope/cgroup.procs", "77\n78\n");
    file("proc/77/root/etc/hostname", "web-host\nmore\n");
    EXPECT_EQ(name_of("aaaa"), "web-host");
    std::filesystem::remove_all(folder_.path("proc/77/root/etc/hostname"));
    std::filesystem::create_symlink(folder_.file("secret", "secret"),
                                    folder_.path("proc/77/root/etc/hostname"));
    EXPECT_EQ(name_of("aaaa"), "");
    EXPECT_FALSE(list_containers({"", folder_.path("nowhere")}));
}

} // namespace
} // namespace auger
