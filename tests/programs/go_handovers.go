// SPDX-License-Identifier: GPL-3.0-or-later

// A server whose requests are received by a goroutine each, which works for its request and ends.
// The next goroutine gets its descriptor, and works for nobody while the request is still open. It
// does what the programs of common/truth.h do, as far as it is needed.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"runtime"
	"time"
)

var sink uint64

func spin(duration time.Duration) {
	value := uint64(1)
	for end := time.Now().Add(duration); time.Now().Before(end); {
		value = value*31 + 7
	}
	sink += value
}

const requests, work = 200, 2 * time.Millisecond

//go:noinline
func workReceiving() {
	spin(work)
}

//go:noinline
func workAfterwards() {
	spin(work)
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(connection net.Conn) {
	for {
		received := make(chan bool, 1)
		go func() {
			buffer := make([]byte, 64)
			_, err := connection.Read(buffer)
			if err == nil {
				workReceiving()
			}
			received <- err == nil
		}()
		if !<-received {
			return
		}
		done := make(chan bool)
		go func() {
			workAfterwards()
			done <- true
		}()
		<-done
		_, err := connection.Write([]byte("answer"))
		fail(err)
	}
}

func main() {
	// One list of descriptors that are free.
	runtime.GOMAXPROCS(1)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	fail(err)
	go func() {
		for {
			connection, err := listener.Accept()
			fail(err)
			go serve(connection)
		}
	}()
	input := bufio.NewReader(os.Stdin)
	waitForWord := func() {
		if _, err := input.ReadString('\n'); err != nil {
			os.Exit(2)
		}
	}
	fmt.Printf("ready %d\n", os.Getpid())
	waitForWord()
	client, err := net.Dial("tcp", listener.Addr().String())
	fail(err)
	answer := make([]byte, 64)
	for i := 0; i < requests; i++ {
		_, err := client.Write([]byte("request"))
		fail(err)
		_, err = client.Read(answer)
		fail(err)
	}
	line, err := json.Marshal(map[string]interface{}{"program": "go_handovers", "pid": os.Getpid(),
		"final": true, "ok": true, "served": requests})
	fail(err)
	fmt.Println(string(line))
	waitForWord()
}
