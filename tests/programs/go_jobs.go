// SPDX-License-Identifier: GPL-3.0-or-later

// Jobs that goroutines do one after the other, each from one function to another, and go from thread
// to thread meanwhile. It does what the programs of common/truth.h do, as far as it is needed: how
// many jobs there were, and how long they took by its own clock.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

var sink, took int64

//go:noinline
func begin(n int) {
	var room [32]int
	for i := range room {
		room[i] = n
	}
	atomic.AddInt64(&sink, int64(room[n%32]))
}

//go:noinline
func finish(n int) {
	atomic.AddInt64(&sink, int64(n))
}

//go:noinline
func workInJob() {
	for end := time.Now().Add(500 * time.Microsecond); time.Now().Before(end); {
	}
}

//go:noinline
func workBetween() {
	for end := time.Now().Add(500 * time.Microsecond); time.Now().Before(end); {
	}
}

// On a small stack.
func job(n int) {
	start := time.Now()
	begin(n)
	for i := 0; i < 3; i++ {
		workInJob()
		time.Sleep(time.Millisecond)
	}
	atomic.AddInt64(&took, int64(time.Since(start)))
	finish(n)
	workBetween()
}

// One goroutine begins a job and ends, the next one, with its descriptor, finishes it.
func handOver(n int) {
	done := make(chan bool)
	go func() {
		begin(n)
		done <- true
	}()
	<-done
	go func() {
		finish(n)
		done <- true
	}()
	<-done
}

const workers, jobs, handedOver = 20, 15, 10

func main() {
	runtime.GOMAXPROCS(4)
	input := bufio.NewReader(os.Stdin)
	waitForWord := func() {
		if _, err := input.ReadString('\n'); err != nil {
			os.Exit(2)
		}
	}
	fmt.Printf("ready %d\n", os.Getpid())
	waitForWord()
	var all sync.WaitGroup
	for w := 0; w < workers; w++ {
		all.Add(1)
		go func(w int) {
			defer all.Done()
			for i := 0; i < jobs; i++ {
				job(w*jobs + i)
			}
		}(w)
	}
	all.Wait()
	runtime.GOMAXPROCS(1)
	for i := 0; i < handedOver; i++ {
		handOver(workers*jobs + i)
	}
	line, _ := json.Marshal(map[string]interface{}{"program": "go_jobs", "pid": os.Getpid(),
		"final": true, "ok": true, "jobs": workers * jobs, "handed_over": handedOver,
		"took_ns": took})
	fmt.Println(string(line))
	waitForWord()
}
