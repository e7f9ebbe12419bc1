// Package freeport gives tests addresses for servers that have to be told one, or that are
// to be found again at the same one.
package freeport

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// The system gives ports of this range to nobody who asks it for any: Linux begins at 32768,
// and others later. So what a test is given here stays free until its server takes it, and
// also while that server is started anew.
const first, last = 10000, 32767

// Addr gives an address of loopback on which nobody listens.
func Addr(tb testing.TB) string {
	tb.Helper()
	for range 100 {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(first+rand.IntN(last-first+1))))
		if err != nil {
			continue // somebody else's
		}
		defer l.Close()
		return l.Addr().String()
	}
	tb.Fatal("no port of loopback is free")
	return ""
}

// Port is that of an Addr.
func Port(tb testing.TB) string {
	tb.Helper()
	_, port, err := net.SplitHostPort(Addr(tb))
	if err != nil {
		tb.Fatal(err)
	}
	return port
}
