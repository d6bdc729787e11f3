// SPDX-License-Identifier: GPL-3.0-or-later

// Functions of Go's whose arguments and results follow from how often they were called. It does what
// the programs of common/truth.h do, as far as it is needed.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"
)

type point struct{ x, y int }
type path string

var failed = errors.New("odd")
var sink int

//go:noinline
func mixed(n int, text string, body []byte, odd bool, share float64, at *point) (int, error) {
	sink += grow(n % 3)
	if odd {
		return 3 * at.x, failed
	}
	return 3*at.x + len(text) + len(body), nil
}

//go:noinline
func named(share float64, small int8, where path) (length int, text string, half int32) {
	sink += grow(1)
	return len(where), string(where) + "!", int32(small) / 2
}

//go:noinline
func onStack(pair [2]int, n int) ([2]int, float64, uint16) {
	sink += grow(1)
	return pair, float64(n), uint16(n)
}

//go:noinline
func nothing(at *point) {
	sink += grow(at.y)
}

// So that the others look for room on their stacks.
//
//go:noinline
func grow(n int) int {
	var room [64]int
	for i := range room {
		room[i] = n + i
	}
	if n > 0 {
		return room[n] + grow(n-1)
	}
	return room[0]
}

//go:noinline
func deep(n int) int {
	if n == 0 {
		return 0
	}
	return deep(n-1) + 1
}

// Its caller goes on on any thread.
//
//go:noinline
func moving(n int, text string) int {
	time.Sleep(time.Millisecond)
	return sink + n + len(text)
}

// Several at once, of which each makes several calls, all with other arguments.
func move() {
	var all sync.WaitGroup
	for i := 0; i < movers; i++ {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			for k := 0; k < moves; k++ {
				n := i*moves + k
				moving(n, fmt.Sprint("text ", n))
			}
		}(i)
	}
	all.Wait()
}

const calls, movers, moves = 50, 40, 10

func main() {
	input := bufio.NewReader(os.Stdin)
	fmt.Printf("ready %d\n", os.Getpid())
	if _, err := input.ReadString('\n'); err != nil {
		os.Exit(2)
	}
	runtime.GOMAXPROCS(4)
	long := strings.Repeat("x", 100)
	for i := 0; i < calls; i++ {
		at := &point{i, i % 2}
		// None ends in a NUL, nor where another one does.
		text := long[:i]
		body := []byte(fmt.Sprintf("body %d, and more", i))[:5+i%2]
		result, err := mixed(1000+i, text, body, i%2 == 1, 0.5, at)
		sink += result
		if err != nil {
			sink++
		}
		length, _, _ := named(1.5, int8(-i), path(fmt.Sprintf("/item/%d", i)))
		sink += length
		pair, _, small := onStack([2]int{i, i}, 70000+i)
		sink += pair[0] + int(small)
		nothing(at)
	}
	sink += deep(6)
	move()
	line, _ := json.Marshal(map[string]interface{}{"program": "go_values", "pid": os.Getpid(),
		"final": true, "ok": true, "calls": calls})
	fmt.Println(string(line))
}
