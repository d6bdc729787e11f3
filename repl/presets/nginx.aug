# nginx 1.18 and later: a request, from nginx's making its record to freeing it, as $request_time.
# An event loop: what happens in epoll_wait is nobody's.
span request from ngx_http_create_request if ret != 0 key ret to ngx_http_free_request key arg0 resume ngx_http_core_run_phases key arg0 resume ngx_http_output_filter key arg0 park epoll_wait
