// SPDX-License-Identifier: GPL-3.0-or-later

// Goroutines that change threads, grow their stacks, panic, recover and leave by Goexit within the
// calls that are counted. It does what the programs of common/truth.h do, as far as it is needed:
// --calls, --wait, --linger, and an account as one line of JSON. What a call takes it knows by its
// own clock, which is read around the call, so that no call is longer than `longest_ns`. With
// --clocks it does nothing but read clocks, which Go does on its scheduler's stack, and knows what
// CPU time its threads had for that.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const workers = 8

type counts struct {
	Entries uint64 `json:"entries"`
	Returns uint64 `json:"returns"`
	Unwound uint64 `json:"unwound"`
	Longest int64  `json:"longest_ns"`
}

var (
	functions = map[string]*counts{}
	migrated  uint64
	cpu       int64 // of threads in readClock, in nanoseconds
	failed    atomic.Value
)

func expect(holds bool, what string) {
	if !holds {
		failed.Store(what)
	}
}

func of(name string) *counts {
	return functions["main."+name]
}

// Around a call: who does it, and how long it takes at most.
func timed(name string, call func()) {
	of := of(name)
	atomic.AddUint64(&of.Entries, 1)
	begin := time.Now()
	call()
	took := int64(time.Since(begin))
	for {
		longest := atomic.LoadInt64(&of.Longest)
		if took <= longest || atomic.CompareAndSwapInt64(&of.Longest, longest, took) {
			return
		}
	}
}

func returned(name string) { atomic.AddUint64(&of(name).Returns, 1) }
func unwound(name string)  { atomic.AddUint64(&of(name).Unwound, 1) }

var sink uint64

//go:noinline
func spin(turns int) uint64 {
	sum := uint64(turns)
	for i := 0; i < turns; i++ {
		sum = sum*6364136223846793005 + 1442695040888963407
	}
	return sum
}

// Goes on wherever the scheduler puts it.
//
//go:noinline
func wander(steps int, ping chan<- int, pong <-chan int) int {
	sum := 0
	for i := 0; i < steps; i++ {
		before := syscall.Gettid()
		atomic.AddUint64(&sink, spin(2000))
		ping <- i
		runtime.Gosched()
		sum += <-pong
		time.Sleep(20 * time.Microsecond)
		if syscall.Gettid() != before {
			atomic.AddUint64(&migrated, 1)
		}
	}
	return sum
}

// Calls itself: the innermost has the longest way home. Its frame makes a new goroutine's stack
// grow several times on the way.
//
//go:noinline
func descend(level int) (sum byte) {
	var frame [700]byte
	for i := range frame {
		frame[i] = byte(level + i)
	}
	timedLevel := func() {
		if level > 0 {
			timed("descend", func() { sum = descend(level - 1) })
			returned("descend")
		} else {
			runtime.Gosched()
		}
	}
	timedLevel()
	return sum + frame[level&511]
}

//go:noinline
func raise(level int) int {
	var frame [300]byte
	if level == 0 {
		panic("as intended")
	}
	frame[level&255] = byte(level)
	atomic.AddUint64(&of("raise").Entries, 1)
	unwound("raise")
	return raise(level-1) + int(frame[level&127])
}

// Returns although what it calls does not.
//
//go:noinline
func recovers(levels int) (caught bool) {
	defer func() { caught = recover() != nil }()
	timed("raise", func() { unwound("raise"); raise(levels) })
	return false
}

//go:noinline
func leave(level int) {
	if level == 0 {
		runtime.Goexit()
	}
	atomic.AddUint64(&of("leave").Entries, 1)
	unwound("leave")
	leave(level - 1)
	expect(false, "somebody came back from Goexit")
}

func worker(rounds int, all *sync.WaitGroup) {
	defer all.Done()
	ping, pong := make(chan int), make(chan int)
	go func() {
		for i := range ping {
			pong <- i
		}
	}()
	for round := 0; round < rounds; round++ {
		timed("wander", func() { expect(wander(5, ping, pong) == 10, "wander's sum") })
		returned("wander")

		grown := make(chan bool)
		go func() { // on a small stack
			timed("descend", func() { descend(20) })
			returned("descend")
			grown <- true
		}()
		<-grown

		// The same place on the stack again and again: of each call but the last nobody is told
		// that it is gone.
		for i := 0; i < 3; i++ {
			timed("recovers", func() { expect(recovers(i), "nothing was caught") })
			returned("recovers")
		}

		left := make(chan bool)
		go func() {
			defer close(left)
			timed("leave", func() { unwound("leave"); leave(3) })
		}()
		<-left
	}
	close(ping)
}

//go:noinline
func readClock(times int) {
	for i := 0; i < times; i++ {
		atomic.StoreUint64(&sink, uint64(time.Now().Nanosecond()))
	}
}

// The current thread's CPU time.
func threadTime() int64 {
	const ofThread = 1 // RUSAGE_THREAD
	var usage syscall.Rusage
	expect(syscall.Getrusage(ofThread, &usage) == nil, "getrusage failed")
	return usage.Utime.Nano() + usage.Stime.Nano()
}

// The current thread stays on the first CPU that it may be on.
func pin() {
	var cpus [128]uint64
	size := unsafe.Sizeof(cpus)
	address := uintptr(unsafe.Pointer(&cpus))
	_, _, failed := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, size, address)
	expect(failed == 0, "sched_getaffinity failed")
	first := 0
	for cpus[first/64]>>(first%64)&1 == 0 {
		first++
	}
	one := uint64(1) << (first % 64)
	cpus = [128]uint64{}
	cpus[first/64] = one
	_, _, failed = syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, size, address)
	expect(failed == 0, "sched_setaffinity failed")
}

// All of them on one CPU, each with a thread of its own, which ends with it.
func reader(rounds int, all *sync.WaitGroup) {
	defer all.Done()
	runtime.LockOSThread()
	pin()
	for round := 0; round < rounds; round++ {
		before := threadTime()
		timed("readClock", func() { readClock(400000) })
		atomic.AddInt64(&cpu, threadTime()-before)
		returned("readClock")
	}
}

func waitForWord(input *bufio.Reader) {
	if _, err := input.ReadString('\n'); err != nil {
		os.Exit(2)
	}
}

func main() {
	rounds := flag.Int("calls", 100, "rounds of each worker")
	wait := flag.Bool("wait", false, "wait for a line before the first call")
	linger := flag.Bool("linger", false, "wait for a line before the end")
	clocks := flag.Bool("clocks", false, "read clocks only, by two workers")
	flag.Parse()
	runtime.GOMAXPROCS(4)
	names, work, count := []string{"wander", "descend", "recovers", "raise", "leave"}, worker, workers
	if *clocks {
		names, work, count = []string{"readClock"}, reader, 2
	}
	for _, name := range names {
		functions["main."+name] = &counts{}
	}
	input := bufio.NewReader(os.Stdin)
	fmt.Printf("ready %d\n", os.Getpid())
	if *wait {
		waitForWord(input)
	}
	var all sync.WaitGroup
	for i := 0; i < count; i++ {
		all.Add(1)
		go work(*rounds, &all)
	}
	all.Wait()
	account := map[string]interface{}{"program": "goroutines", "pid": os.Getpid(), "final": true,
		"ok": failed.Load() == nil, "functions": functions, "migrated": migrated,
		"cpu_ns": cpu}
	if failed.Load() != nil {
		account["failure"] = failed.Load()
	}
	line, _ := json.Marshal(account)
	fmt.Println(string(line))
	if *linger {
		waitForWord(input)
	}
	if failed.Load() != nil {
		os.Exit(1)
	}
}
