# HAProxy 2.4 and later: a request, from its stream's being made to its being freed. Event loops:
# what happens outside of process_stream is nobody's.
span stream from stream_new if ret != 0 key ret to stream_free key arg0 resume process_stream key arg1 park process_stream%return
