// SPDX-License-Identifier: GPL-3.0-or-later

// Goroutines with labels of runtime/pprof, and without. It does what the programs of common/truth.h
// do, as far as it is needed: --calls, --wait, --linger, and an account as one line of JSON: of
// `main.handle` how many calls there were with each label `route`, and which functions burn CPU time
// and sleep with which one.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	_ "net" // with C in it, where that is allowed
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const workers = 4

const (
	quote   = iota
	order   // within a quote
	child   // of a goroutine that another one with the label has begun
	long    // longer than what is read
	empty   // it has no text
	full    // one of eight labels
	crowded // one of nine
	other   // a label, but another one
	none
	kinds
)

var (
	counts   [kinds]uint64
	contexts [kinds]context.Context
	longest  = "/" + strings.Repeat("long/", 14)
	routes   = [kinds]string{"/quote", "/order", "/child", longest, "", "/full", "/crowded", "", ""}
	sink     uint64
)

// Labels beside the one that is asked for, with keys as long as its.
func crowd(size int) []string {
	var pairs []string
	for i := 0; i < size; i++ {
		pairs = append(pairs, fmt.Sprintf("rout%d", i), fmt.Sprintf("/wrong/%d", i))
	}
	return pairs
}

func prepare() {
	background := context.Background()
	for kind, route := range routes {
		contexts[kind] = pprof.WithLabels(background, pprof.Labels("route", route))
	}
	contexts[full] = pprof.WithLabels(contexts[full], pprof.Labels(crowd(7)...))
	contexts[crowded] = pprof.WithLabels(contexts[crowded], pprof.Labels(crowd(8)...))
	contexts[other] = pprof.WithLabels(background, pprof.Labels(crowd(2)...))
	contexts[none] = background
}

//go:noinline
func spin(turns int) uint64 {
	sum := uint64(turns)
	for i := 0; i < turns; i++ {
		sum = sum*6364136223846793005 + 1442695040888963407
	}
	return sum
}

//go:noinline
func handle(kind int) {
	atomic.AddUint64(&counts[kind], 1)
	atomic.AddUint64(&sink, spin(100))
}

// It is another goroutine's turn on this thread.
func handleOnSomeThread(kind int) {
	runtime.Gosched()
	handle(kind)
}

// When it returns the labels are those of the context again.
func do(around context.Context, kind int, what func(context.Context)) {
	pprof.Do(around, pprof.Labels("route", routes[kind]), what)
}

func worker(rounds int, all *sync.WaitGroup) {
	defer all.Done()
	for round := 0; round < rounds; round++ {
		do(contexts[none], quote, func(around context.Context) {
			handleOnSomeThread(quote)
			do(around, order, func(context.Context) { handleOnSomeThread(order) })
			handleOnSomeThread(quote)
		})
		handleOnSomeThread(none)
		do(contexts[none], child, func(context.Context) {
			done := make(chan bool)
			go func() {
				handle(child)
				done <- true
			}()
			<-done
		})
		for _, kind := range []int{long, empty, full, crowded, other, none} {
			pprof.SetGoroutineLabels(contexts[kind])
			handleOnSomeThread(kind)
		}
	}
}

// What each of these is at has its own label, and nothing else has it.
//
//go:noinline
func burnQuote(turns int) { burn(turns) }

//go:noinline
func burnOrder(turns int) { burn(turns) }

//go:noinline
func burnNone(turns int) { burn(turns) }

//go:noinline
func burn(turns int) {
	for i := 0; i < 10; i++ {
		atomic.AddUint64(&sink, spin(turns))
		time.Sleep(time.Millisecond)
		// Garbage, and with it the runtime's own work.
		atomic.AddUint64(&sink, uint64(len(fmt.Sprint(make([]byte, 1000)))))
	}
}

func burner(rounds int, all *sync.WaitGroup) {
	defer all.Done()
	const turns = 1000000
	for round := 0; round < rounds; round++ {
		do(contexts[none], quote, func(context.Context) { burnQuote(turns) })
		do(contexts[none], order, func(context.Context) { burnOrder(turns) })
		burnNone(turns)
	}
}

func inParallel(rounds int, what func(int, *sync.WaitGroup)) {
	var all sync.WaitGroup
	for i := 0; i < workers; i++ {
		all.Add(1)
		go what(rounds, &all)
	}
	all.Wait()
}

func waitForWord(input *bufio.Reader) {
	if _, err := input.ReadString('\n'); err != nil {
		os.Exit(2)
	}
}

func main() {
	calls := flag.Int("calls", 4, "rounds of each worker")
	burns := flag.Int("burns", 0, "rounds of each that burns CPU time")
	wait := flag.Bool("wait", false, "wait for a line before the first call")
	linger := flag.Bool("linger", false, "wait for a line before the end")
	flag.Parse()
	runtime.GOMAXPROCS(workers)
	prepare()
	input := bufio.NewReader(os.Stdin)
	fmt.Printf("ready %d\n", os.Getpid())
	if *wait {
		waitForWord(input)
	}
	inParallel(*calls, worker)
	inParallel(*burns, burner)
	byRoute := map[string]uint64{}
	for kind := range counts {
		if kind != crowded {
			byRoute[routes[kind]] += counts[kind]
		}
	}
	account := map[string]interface{}{"program": "golabels", "pid": os.Getpid(), "final": true,
		"ok": true, "version": runtime.Version(), "routes": byRoute, "crowded": counts[crowded],
		"burning": map[string]string{"main.burnQuote": routes[quote],
			"main.burnOrder": routes[order], "main.burnNone": ""}}
	line, _ := json.Marshal(account)
	fmt.Println(string(line))
	if *linger {
		waitForWord(input)
	}
}
