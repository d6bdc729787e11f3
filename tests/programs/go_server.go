// SPDX-License-Identifier: GPL-3.0-or-later

// An HTTP server as Go's users write it, with clients of its own in the same process. With cgo, as
// `go build` makes it where there is a C compiler: its threads begin in C. It does what the
// programs of common/truth.h do, as far as it is needed, and says by which functions Go's own
// traceback comes to the handler.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

var (
	calls   uint64
	longest int64
	callers []string
	once    sync.Once
	sink    uint64
)

//go:noinline
func burn(turns int) uint64 {
	sum := uint64(turns)
	for i := 0; i < turns; i++ {
		sum = sum*6364136223846793005 + 1442695040888963407
	}
	return sum
}

//go:noinline
func handler(w http.ResponseWriter, r *http.Request) {
	once.Do(func() {
		pcs := make([]uintptr, 64)
		frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
		inside := true
		for more := true; more; {
			var frame runtime.Frame
			frame, more = frames.Next()
			if frame.Function == "main.handler" {
				inside = false
			}
			if !inside {
				callers = append(callers, frame.Function)
			}
		}
	})
	atomic.AddUint64(&sink, burn(200000))
	time.Sleep(200 * time.Microsecond)
	fmt.Fprintf(w, "%s\n", r.URL.Path)
}

func timedHandler(w http.ResponseWriter, r *http.Request) {
	begin := time.Now()
	handler(w, r)
	took := int64(time.Since(begin))
	atomic.AddUint64(&calls, 1)
	for {
		seen := atomic.LoadInt64(&longest)
		if took <= seen || atomic.CompareAndSwapInt64(&longest, seen, took) {
			return
		}
	}
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func client(url string, requests int, all *sync.WaitGroup) {
	defer all.Done()
	for i := 0; i < requests; i++ {
		response, err := http.Get(url)
		fail(err)
		_, err = io.Copy(io.Discard, response.Body)
		fail(err)
		response.Body.Close()
	}
}

func main() {
	requests := flag.Int("calls", 300, "requests of each of four clients")
	wait := flag.Bool("wait", false, "wait for a line before the first call")
	linger := flag.Bool("linger", false, "wait for a line before the end")
	flag.Parse()
	runtime.GOMAXPROCS(4)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	fail(err)
	http.HandleFunc("/", timedHandler)
	go http.Serve(listener, nil)
	input := bufio.NewReader(os.Stdin)
	waitForWord := func() {
		if _, err := input.ReadString('\n'); err != nil {
			os.Exit(2)
		}
	}
	fmt.Printf("ready %d\n", os.Getpid())
	if *wait {
		waitForWord()
	}
	var all sync.WaitGroup
	for i := 0; i < 4; i++ {
		all.Add(1)
		go client("http://"+listener.Addr().String()+"/x", *requests, &all)
	}
	all.Wait()
	line, err := json.Marshal(map[string]interface{}{"program": "go_server", "pid": os.Getpid(),
		"final": true, "ok": true, "calls": calls, "longest_ns": longest, "callers": callers})
	fail(err)
	fmt.Println(string(line))
	if *linger {
		waitForWord()
	}
}
