package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/locket-dev/locket/cmd/locket/cli"
)

// openTerminal gives both ends of a terminal: a person's and a program's.
func openTerminal(t *testing.T, columns, lines uint16) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { person.Close() })
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	if err := unix.IoctlSetWinsize(int(program.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: lines}); err != nil {
		t.Fatal(err)
	}
	return person, program
}

// A QR code is shown whole or not at all.
func TestQRInATerminal(t *testing.T) {
	const link = "mqtt://pendant:kbtxkjdjgfjfwpshqy3ytxgkga@192.168.100.100:1883"
	a := &cli.App{Paint: cli.Painter{On: true}}
	if got, whole := a.Qr(io.Discard, link); got != "" || whole {
		t.Errorf("drawn into what is no terminal: %q", got)
	}
	_, large := openTerminal(t, 200, 100)
	picture, whole := a.Qr(large, link)
	wide, high := cli.QrSize(picture)
	if !whole || wide < 21 || wide > 60 || high != (wide+1)/2 || strings.Contains(picture, "\t") {
		t.Fatalf("%d times %d, %v", wide, high, whole)
	}
	for _, c := range []struct {
		columns, lines int
		whole          bool
	}{{80, 24, true}, {wide, high, true}, {wide - 1, 100, false}, {200, high - 1, false}, {0, 0, true}} { // of a terminal whose size nobody knows, it is drawn
		_, at := openTerminal(t, uint16(c.columns), uint16(c.lines))
		got, whole := a.Qr(at, link)
		want := picture
		if !c.whole {
			want = fmt.Sprintf("The terminal is too small for the QR code, which takes %d columns and %d lines.\n", wide, high)
		}
		if got != want || whole != c.whole {
			t.Errorf("%d times %d: %v\n%s", c.columns, c.lines, whole, got)
		}
	}
	if got, whole := a.Qr(large, strings.Repeat("x", 5000)); got != "" || whole {
		t.Errorf("%d bytes for what no code can say", len(got))
	}
	// NO_COLOR: the picture without its colours, which an inverted one has on a dark terminal.
	plain, whole := (&cli.App{}).Qr(large, link)
	if w, h := cli.QrSize(plain); !whole || w != wide || h != high || strings.Contains(plain, "\x1b") || !strings.HasPrefix(plain, "█████") {
		t.Errorf("%d times %d, %v\n%s", w, h, whole, plain)
	}
}
