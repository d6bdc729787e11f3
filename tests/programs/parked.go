// SPDX-License-Identifier: GPL-3.0-or-later

// Goroutines that wait in calls that are timed: asleep, for channels, for others, for the network. It does
// what the programs of common/truth.h do, as far as it is needed: --calls, --wait, --linger, and an
// account as one line of JSON. Of each function it knows by its own clock for how long its calls
// waited at least (until whoever ended the wait was about to) and at most (until they went on).
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const workers = 8
const nap = 4 * time.Millisecond

type counts struct {
	Entries uint64 `json:"entries"`
	Returns uint64 `json:"returns"`
	Unwound uint64 `json:"unwound"`
	Least   int64  `json:"least_ns"`
	Most    int64  `json:"most_ns"`
}

var (
	functions = map[string]*counts{}
	migrated  uint64
	failed    atomic.Value
	epoch     = time.Now()
)

func now() int64 { return int64(time.Since(epoch)) }

func of(name string) *counts { return functions["main."+name] }

func expect(holds bool, what string) {
	if !holds {
		failed.Store(what)
	}
}

// One call's wait: from `begin` to now, and at least until `ended`.
func waited(name string, begin, ended int64) {
	most := now() - begin
	atomic.AddInt64(&of(name).Most, most)
	if ended > begin {
		atomic.AddInt64(&of(name).Least, ended-begin)
	}
}

func called(name string, call func()) {
	atomic.AddUint64(&of(name).Entries, 1)
	call()
	atomic.AddUint64(&of(name).Returns, 1)
}

//go:noinline
func sleeps() {
	begin := now()
	time.Sleep(nap)
	waited("sleeps", begin, begin+int64(nap))
}

// Whoever ends a wait says when it is about to.
type word struct{ at int64 }

//go:noinline
func receives(from <-chan word) {
	begin := now()
	sent := <-from
	waited("receives", begin, sent.at)
}

//go:noinline
func sends(to chan<- *word, taken *int64) {
	begin := now()
	to <- &word{}
	waited("sends", begin, atomic.LoadInt64(taken))
}

//go:noinline
func selects(from <-chan word, never <-chan bool) {
	begin := now()
	select {
	case sent := <-from:
		waited("selects", begin, sent.at)
	case <-never:
	}
}

//go:noinline
func joins(group *sync.WaitGroup, let *int64) {
	begin := now()
	group.Wait()
	waited("joins", begin, atomic.LoadInt64(let))
}

//go:noinline
func reads(from net.Conn, written *int64) {
	var bytes [1]byte
	begin := now()
	n, err := from.Read(bytes[:])
	expect(n == 1 && err == nil, "read")
	waited("reads", begin, atomic.LoadInt64(written))
}

// On a stack that has grown, and that the garbage collector makes smaller while it waits.
//
//go:noinline
func deep(level int) byte {
	var frame [900]byte
	if level > 0 {
		frame[level&511] = deep(level - 1)
	} else {
		begin := now()
		time.Sleep(nap)
		waited("grows", begin, begin+int64(nap))
	}
	return frame[level&511] + 1
}

//go:noinline
func grows() byte { return deep(20) }

//go:noinline
func raises() {
	time.Sleep(nap)
	panic("as intended")
}

//go:noinline
func recovers() (caught bool) {
	defer func() { caught = recover() != nil }()
	atomic.AddUint64(&of("raises").Entries, 1)
	atomic.AddUint64(&of("raises").Unwound, 1)
	raises()
	return
}

//go:noinline
func leaves() {
	time.Sleep(nap)
	runtime.Goexit()
}

// The planted cause: what is not in stock takes five times as long.
//
//go:noinline
func handle(number int, stock chan word) {
	if number%10 == 0 {
		fetch(stock)
	} else {
		look()
	}
}

//go:noinline
func fetch(stock chan word) {
	go func() {
		time.Sleep(5 * nap)
		stock <- word{}
	}()
	<-stock
}

//go:noinline
func look() { time.Sleep(nap) }

//go:noinline
func forever(never <-chan bool) { <-never }

// For good, each for something else, below a function that is inlined.
//
//go:noinline
func stuckReceiving(never <-chan bool) { receive(never) }

func receive(never <-chan bool) { <-never }

//go:noinline
func stuckLocking(locked *sync.Mutex) { lock(locked) }

func lock(locked *sync.Mutex) { locked.Lock() }

//go:noinline
func stuckSleeping() { sleep() }

func sleep() { time.Sleep(1000 * time.Hour) }

//go:noinline
func stuckReading(from net.Conn) { read(from) }

func read(from net.Conn) {
	var bytes [1]byte
	from.Read(bytes[:])
}

// Deep in its stack, which was copied to larger ones on the way.
//
//go:noinline
func stuckDeep(level int, never chan<- bool) byte {
	var frame [900]byte
	if level > 0 {
		return stuckDeep(level-1, never) + frame[level&511]
	}
	never <- true
	return frame[level&511]
}

// Parks them all, and says where, as Go's own traceback does. Whoever is not parked yet has a first
// line that says so.
func stick(listener net.Listener) string {
	never, sent, kept := make(chan bool), make(chan bool), make(chan net.Conn)
	var locked sync.Mutex
	locked.Lock()
	go func() {
		connection, err := listener.Accept()
		expect(err == nil, "accept")
		kept <- connection // as long as the program runs
	}()
	other, err := net.Dial("tcp", listener.Addr().String())
	expect(err == nil, "connect")
	go stuckReceiving(never)
	go stuckLocking(&locked)
	go stuckSleeping()
	go stuckReading(other)
	go stuckDeep(20, sent)
	const all = 5
	text := make([]byte, 1<<20)
	for {
		parked := 0
		said := string(text[:runtime.Stack(text, true)])
		for _, one := range strings.Split(said, "\n\n") {
			if strings.Contains(one, "main.stuck") && !strings.Contains(one, "[run") {
				parked++
			}
		}
		if parked == all {
			return said
		}
		time.Sleep(time.Millisecond)
	}
}

func round(connection, other net.Conn, number int) {
	thread := syscall.Gettid()
	never := make(chan bool)
	called("sleeps", func() { sleeps() })
	words := make(chan word)
	later := func(do func()) {
		go func() {
			time.Sleep(nap)
			do()
		}()
	}
	later(func() { words <- word{now()} })
	called("receives", func() { receives(words) })
	taking := make(chan *word)
	var at int64
	later(func() { atomic.StoreInt64(&at, now()); <-taking })
	called("sends", func() { sends(taking, &at) })
	later(func() { words <- word{now()} })
	called("selects", func() { selects(words, never) })
	var group sync.WaitGroup
	group.Add(1)
	later(func() { atomic.StoreInt64(&at, now()); group.Done() })
	called("joins", func() { joins(&group, &at) })
	later(func() { atomic.StoreInt64(&at, now()); other.Write([]byte{1}) })
	called("reads", func() { reads(connection, &at) })
	done := make(chan bool)
	go func() {
		called("grows", func() { grows() })
		close(done)
	}()
	<-done
	expect(recovers(), "nothing was caught")
	left := make(chan bool)
	go func() {
		defer close(left)
		atomic.AddUint64(&of("leaves").Entries, 1)
		atomic.AddUint64(&of("leaves").Unwound, 1)
		leaves()
	}()
	<-left
	called("handle", func() { handle(number, words) })
	if syscall.Gettid() != thread {
		atomic.AddUint64(&migrated, 1)
	}
}

func worker(rounds int, listener net.Listener, all *sync.WaitGroup) {
	defer all.Done()
	accepted := make(chan net.Conn)
	go func() {
		connection, err := listener.Accept()
		expect(err == nil, "accept")
		accepted <- connection
	}()
	other, err := net.Dial("tcp", listener.Addr().String())
	expect(err == nil, "connect")
	connection := <-accepted
	for i := 0; i < rounds; i++ {
		round(connection, other, i)
	}
}

func main() {
	rounds := flag.Int("calls", 20, "rounds of each worker")
	wait := flag.Bool("wait", false, "wait for a line before the first call")
	linger := flag.Bool("linger", false, "wait for a line before the end")
	stuck := flag.Bool("stuck", false, "goroutines that are parked for good, and a traceback of them")
	pingpong := flag.Bool("pingpong", false, "switch goroutines as often as it can, until a line comes")
	flag.Parse()
	runtime.GOMAXPROCS(4)
	for _, name := range []string{"sleeps", "receives", "sends", "selects", "joins", "reads", "grows",
		"raises", "leaves", "handle", "forever"} {
		functions["main."+name] = &counts{}
	}
	input := bufio.NewReader(os.Stdin)
	line := func() {
		if _, err := input.ReadString('\n'); err != nil {
			os.Exit(2)
		}
	}
	fmt.Printf("ready %d\n", os.Getpid())
	if *wait {
		line()
	}
	if *pingpong {
		ping, pong := make(chan bool), make(chan bool)
		go func() {
			for range ping {
				pong <- true
			}
		}()
		go func() {
			for {
				ping <- true
				<-pong
			}
		}()
		line()
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	expect(err == nil, "listen")
	stop := make(chan bool)
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
				runtime.GC()
			}
		}
	}()
	var all sync.WaitGroup
	for i := 0; i < workers; i++ {
		all.Add(1)
		go worker(*rounds, listener, &all)
	}
	all.Wait()
	close(stop)
	never := make(chan bool)
	for i := 0; i < workers; i++ {
		atomic.AddUint64(&of("forever").Entries, 1)
		go forever(never)
	}
	account := map[string]interface{}{"program": "parked", "pid": os.Getpid(), "final": true,
		"ok": failed.Load() == nil, "functions": functions, "migrated": migrated}
	if *stuck {
		account["traceback"] = stick(listener)
	}
	if failed.Load() != nil {
		account["failure"] = failed.Load()
	}
	text, _ := json.Marshal(account)
	fmt.Println(string(text))
	if *linger {
		line()
	}
}
