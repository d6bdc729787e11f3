// SPDX-License-Identifier: GPL-3.0-or-later

// Functions that Go's compiler inlines into others, and that know their own chains of calls: each
// turns a loop, and is made to panic in that loop, where Go's own traceback says how it came there. It does what the programs of common/truth.h do, as far as it is needed: --calls, --wait,
// --linger, and an account as one line of JSON.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
)

const turns = 3_000_000

type frame struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
}

// Where there are fewer than eight values it panics.
func spin(values []uint64, turns int) (sum uint64) {
	for i := 0; i < turns; i++ {
		sum = sum*6364136223846793005 + values[i&7]
	}
	return
}

func through(values []uint64, turns int) uint64 {
	return 1 +
		spin(values, turns)
}

type holder struct{ values []uint64 }

func (h *holder) run(turns int) uint64 {
	h.values = h.values[:len(h.values):len(h.values)]
	return through(h.values, turns)
}

func each[T uint32 | uint64](values []T, turns int) (sum T) {
	for i := 0; i < turns; i++ {
		sum = sum*69069 + values[i&7]
	}
	return
}

//go:noinline
func plain(values []uint64, turns int) uint64 {
	return spin(values, turns)
}

//go:noinline
func nested(values []uint64, turns int) uint64 {
	h := holder{values}
	if turns&1 == 1 {
		return h.run(turns)
	}
	return h.run(turns + 1)
}

//go:noinline
func closure(values []uint64, turns int) uint64 {
	return func() uint64 {
		return through(values, turns)
	}()
}

//go:noinline
func generic(values []uint64, turns int) uint64 {
	return each(values, turns)
}

// Its caller is not inlined, and neither are those that it calls.
//
//go:noinline
func chainOf(work func([]uint64, int) uint64, turns int) (chain []frame) {
	defer func() {
		if recover() == nil {
			return
		}
		pcs := make([]uintptr, 64)
		frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
		inside, more := false, true
		for more {
			var one runtime.Frame
			one, more = frames.Next()
			if one.Function == "main.chainOf" {
				break
			}
			if inside {
				chain = append(chain, frame{one.Function, one.File, one.Line})
			}
			inside = inside || one.Function == "runtime.goPanicIndex" || one.Function == "runtime.panicBounds"
		}
	}()
	work(nil, turns)
	return
}

var sink uint64

func main() {
	rounds := flag.Int("calls", 40, "rounds")
	wait := flag.Bool("wait", false, "wait for a line before the first call")
	linger := flag.Bool("linger", false, "wait for a line before the end")
	flag.Parse()
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
	works := []func([]uint64, int) uint64{plain, nested, closure, generic}
	chains := [][]frame{}
	for _, work := range works {
		chains = append(chains, chainOf(work, 1), chainOf(work, 2))
	}
	values := []uint64{1, 2, 3, 4, 5, 6, 7, 8}
	for i := 0; i < *rounds; i++ {
		for _, work := range works {
			sink += work(values, turns+i&1)
		}
	}
	text, _ := json.Marshal(map[string]interface{}{"program": "inlined", "pid": os.Getpid(), "final": true,
		"ok": true, "chains": chains})
	fmt.Println(string(text))
	if *linger {
		line()
	}
}
