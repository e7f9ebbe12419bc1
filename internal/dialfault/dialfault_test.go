package dialfault

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"testing"
)

// dial returns the error of a failed connection to 192.0.2.1:80.
func dial(err error) error {
	return &url.Error{Op: "Post", URL: "http://192.0.2.1/inference",
		Err: &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80}, Err: err}}
}

func TestErrorText(t *testing.T) {
	for want, err := range map[string]error{
		"nothing listens at 192.0.2.1:80":                 dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)),
		"192.0.2.1:80 can't be reached: no route to host": dial(os.NewSyscallError("connect", syscall.EHOSTUNREACH)),
		"192.0.2.1:80 can't be reached in time":           dial(os.ErrDeadlineExceeded),
		"no host has the name speech.invalid": &url.Error{Op: "Post", URL: "http://speech.invalid", Err: &net.OpError{Op: "dial", Net: "tcp",
			Err: &net.DNSError{Err: "no such host", Name: "speech.invalid", Server: "192.0.2.2:53", IsNotFound: true}}},
		"the connection broke": &url.Error{Op: "Post", URL: "http://192.0.2.1", Err: io.EOF},
		"x509: unknown":        &url.Error{Op: "Post", URL: "http://192.0.2.1", Err: errors.New("x509: unknown")},
		"send: no more":        fmt.Errorf("send: %w", errors.New("no more")),
	} {
		if got := Words(err); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}

// The words match a real refusal of package net.
func TestErrorTextOfARealRefusal(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	l.Close()
	_, err = http.Get("http://" + at + "/inference")
	if got := Words(err); got != "nothing listens at "+at {
		t.Errorf("%v: %q", err, got)
	}
}
