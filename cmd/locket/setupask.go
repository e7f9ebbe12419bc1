package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// errEnded: the person ended the questions.
var errEnded = errors.New("setup was ended")

// talks reports whether somebody is there to answer.
func (a *app) talks() bool {
	if a.json {
		return false
	}
	if a.terminal != nil {
		return a.terminal()
	}
	f, ok := a.stdin.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// asker asks a person who may end it at any time.
type asker struct {
	app   *app
	ctx   context.Context
	talks bool // somebody is there
}

func (s *asker) tell(format string, args ...any) {
	if !s.app.json {
		fmt.Fprintf(s.app.stderr, format, args...)
	}
}

// ask gives the answer to a question, or what is meant by none. The end of input
// is errEnded, as is an interrupt.
func (s *asker) ask(question, usual string) (string, error) {
	if usual != "" {
		question += " [" + usual + "]"
	}
	s.tell("%s: ", question)
	line := ""
	err := s.wait(func() (err error) {
		line, err = s.app.in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			err = errEnded
		}
		return err
	})
	if err != nil {
		return "", err
	}
	if line = strings.TrimSpace(line); line == "" {
		return usual, nil
	}
	return line, nil
}

// yes asks a question that may be answered by y.
func (s *asker) yes(question string) (bool, error) {
	v, err := s.ask(question+" y or n", "n")
	return strings.HasPrefix(strings.ToLower(v), "y"), err
}

// wait waits until a person has answered or has ended the setup. If the setup is ended, the goroutine that reads the
// terminal goes on until the process ends.
func (s *asker) wait(read func() error) error {
	var was *term.State
	f, ok := s.app.stdin.(*os.File)
	if ok {
		was, _ = term.GetState(int(f.Fd())) // nil if it is not a terminal
	}
	done := make(chan error, 1)
	go func() { done <- read() }()
	select {
	case err := <-done:
		return err
	case <-s.ctx.Done():
		if was != nil {
			_ = term.Restore(int(f.Fd()), was) // it may be gone
		}
		return errEnded
	}
}
