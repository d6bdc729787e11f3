// SPDX-License-Identifier: GPL-3.0-or-later

// A web server with a slow request now and then, in Go: tests/programs/slow_requests.py says what
// it does. With --wait the slow ones wait for another goroutine's answer instead of computing.
package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
)

var served, planted, sink uint64
var waits = len(os.Args) > 1 && os.Args[1] == "--wait"

func spin(duration time.Duration) {
	value := uint64(1)
	for end := time.Now().Add(duration); time.Now().Before(end); {
		value = value*31 + 7
	}
	atomic.AddUint64(&sink, value)
}

//go:noinline
func look() {
	spin(500 * time.Microsecond)
}

//go:noinline
func reconcile() {
	const slow = 60 * time.Millisecond
	atomic.AddUint64(&planted, 1)
	if waits {
		<-time.After(slow)
	} else {
		spin(slow)
	}
}

func handle(w http.ResponseWriter, r *http.Request) {
	look()
	if strings.HasSuffix(r.URL.Path, "7") {
		reconcile()
	}
	atomic.AddUint64(&served, 1)
	fmt.Fprintln(w, "ok")
}

func main() {
	runtime.GOMAXPROCS(4)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	http.HandleFunc("/", handle)
	go http.Serve(listener, nil)
	fmt.Printf("ready\n%d\n", listener.Addr().(*net.TCPAddr).Port)
	input := bufio.NewReader(os.Stdin)
	input.ReadString('\n')
	fmt.Printf("{\"served\": %d, \"planted\": %d}\n", atomic.LoadUint64(&served),
		atomic.LoadUint64(&planted))
	input.ReadString('\n')
}
