// SPDX-License-Identifier: GPL-3.0-or-later

// An HTTP server whose goroutines leave their threads in the middle of requests, each kind of
// request in another way and with a function of its own for its work; others work for no request
// meanwhile. With --parks N requests do nothing but wait, and the program knows by its own clock for
// how long at least (until somebody was going to end the wait) and at most. With --pauses N there is a
// pause in each answer. Its clients are in the same process. It does what the programs of common/truth.h do,
// as far as it is needed.
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

var served, sink uint64
var least, most int64 // of the waits, in nanoseconds

func spin(duration time.Duration) {
	value := uint64(1)
	for end := time.Now().Add(duration); time.Now().Before(end); {
		value = value*31 + 7
	}
	atomic.AddUint64(&sink, value)
}

const pieces, piece = 6, 500 * time.Microsecond

//go:noinline
func workAtOnce() {
	for i := 0; i < pieces; i++ {
		spin(piece)
	}
}

//go:noinline
func workSleeping() {
	for i := 0; i < pieces; i++ {
		spin(piece)
		time.Sleep(300 * time.Microsecond)
	}
}

//go:noinline
func workYielding() {
	for i := 0; i < pieces; i++ {
		spin(piece)
		runtime.Gosched()
	}
}

//go:noinline
func workAsking() {
	for i := 0; i < pieces; i++ {
		spin(piece)
		answer := make(chan bool)
		questions <- answer
		<-answer
	}
}

// By another goroutine, which it starts for it.
//
//go:noinline
func workSpawned() {
	for i := 0; i < pieces; i++ {
		spin(piece)
		runtime.Gosched()
	}
}

func spawn() {
	done := make(chan bool)
	go func() {
		workSpawned()
		done <- true
	}()
	<-done
}

var questions = make(chan chan bool)

// Nobody's: who answers all, and what comes from time to time.
//
//go:noinline
func workForNobody() {
	spin(100 * time.Microsecond)
}

func background() {
	go func() {
		for answer := range questions {
			workForNobody()
			answer <- true
		}
	}()
	for {
		workForNobody()
		time.Sleep(500 * time.Microsecond)
	}
}

const nap, longNap = 20 * time.Millisecond, 30 * time.Millisecond

//go:noinline
func waitAsleep() {
	begin := time.Now()
	time.Sleep(nap)
	atomic.AddInt64(&most, int64(time.Since(begin)))
	atomic.AddInt64(&least, int64(nap))
}

//go:noinline
func waitForAnswer() {
	answer := make(chan time.Time, 1)
	begin := time.Now()
	time.AfterFunc(longNap, func() { answer <- time.Now() })
	sent := <-answer
	atomic.AddInt64(&most, int64(time.Since(begin)))
	atomic.AddInt64(&least, int64(sent.Sub(begin)))
}

var parking = map[string]func(){"/asleep": waitAsleep, "/answered": waitForAnswer}

var kinds = map[string]func(){"/at-once": workAtOnce, "/sleeping": workSleeping,
	"/yielding": workYielding, "/asking": workAsking, "/spawning": spawn}

var asked = kinds
var pausing = false

// Half of the answer is sent by another goroutine, before the pause.
func pause(w http.ResponseWriter) {
	fmt.Fprintln(w, "half")
	sent := make(chan bool)
	time.AfterFunc(0, func() {
		w.(http.Flusher).Flush()
		sent <- true
	})
	<-sent
	time.Sleep(10 * longNap)
}

func handle(w http.ResponseWriter, r *http.Request) {
	if pausing {
		pause(w)
	} else {
		asked[r.URL.Path]()
	}
	atomic.AddUint64(&served, 1)
	fmt.Fprintln(w, "ok")
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// With keepAlive false each request has a connection, and so a goroutine, of its own.
func client(url string, requests int, keepAlive bool, all *sync.WaitGroup) {
	defer all.Done()
	connection := &http.Client{Transport: &http.Transport{DisableKeepAlives: !keepAlive}}
	for i := 0; i < requests; i++ {
		response, err := connection.Get(url)
		fail(err)
		_, err = io.Copy(io.Discard, response.Body)
		fail(err)
		response.Body.Close()
	}
}

func main() {
	requests := flag.Int("calls", 100, "requests of each of ten clients")
	parks := flag.Int("parks", 0, "requests of each of four clients, that only wait")
	pauses := flag.Int("pauses", 0, "requests of each of four clients, answered with a pause of 300 ms")
	flag.Parse()
	calm := *parks+*pauses > 0
	if calm {
		asked, *requests, pausing = parking, *parks+*pauses, *pauses > 0
	}
	runtime.GOMAXPROCS(4)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	fail(err)
	http.HandleFunc("/", handle)
	go http.Serve(listener, nil)
	input := bufio.NewReader(os.Stdin)
	waitForWord := func() {
		if _, err := input.ReadString('\n'); err != nil {
			os.Exit(2)
		}
	}
	fmt.Printf("ready %d\n", os.Getpid())
	waitForWord()
	if !calm {
		go background()
	}
	var all sync.WaitGroup
	for path := range asked {
		for i := 0; i < 2; i++ {
			all.Add(1)
			go client("http://"+listener.Addr().String()+path, *requests, *parks == 0, &all)
		}
	}
	all.Wait()
	line, err := json.Marshal(map[string]interface{}{"program": "go_exchanges", "pid": os.Getpid(),
		"final": true, "ok": true, "served": served,
		"least_ns": least, "most_ns": most})
	fail(err)
	fmt.Println(string(line))
	waitForWord()
}
