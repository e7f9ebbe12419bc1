// Package freeport gives tests addresses for servers that need a fixed one, or that have to be
// found at the same one again.
package freeport

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// The system does not assign ports of this range by itself: Linux begins at 32768, and others
// later. So a port from here stays free until the test's server takes it, and also while that
// server restarts.
const first, last = 10000, 32767

// Addr returns an address of loopback on which nobody listens.
func Addr(tb testing.TB) string {
	tb.Helper()
	for range 100 {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(first+rand.IntN(last-first+1))))
		if err != nil {
			continue // it is taken
		}
		defer l.Close()
		return l.Addr().String()
	}
	tb.Fatal("no port of loopback is free")
	return ""
}

// Port returns the port of an Addr.
func Port(tb testing.TB) string {
	tb.Helper()
	_, port, err := net.SplitHostPort(Addr(tb))
	if err != nil {
		tb.Fatal(err)
	}
	return port
}
