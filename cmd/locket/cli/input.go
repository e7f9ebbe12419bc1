package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// interruptible reads until a channel is closed. Each Read has a goroutine, which goes on if the
// channel is closed first: nothing else ends a read of a terminal.
type interruptible struct {
	done <-chan struct{}
	in   io.Reader
}

// UntilInterrupted returns a reader of in that fails with context.Canceled once done is closed.
func UntilInterrupted(done <-chan struct{}, in io.Reader) io.Reader { return interruptible{done, in} }

func (r interruptible) Read(p []byte) (int, error) {
	b, err := orInterrupted(r.done, func() ([]byte, error) {
		b := make([]byte, len(p)) // and not p, which belongs to the caller again after an interrupt
		n, err := r.in.Read(b)
		return b[:n], err
	})
	return copy(p, b), err
}

// orInterrupted calls f, and returns context.Canceled if done is closed before f returns. Then f
// goes on until the process ends.
func orInterrupted[T any](done <-chan struct{}, f func() (T, error)) (v T, err error) {
	type result struct {
		v   T
		err error
	}
	ended := make(chan result, 1)
	select {
	case <-done:
		return v, context.Canceled
	default:
		go func() {
			v, err := f()
			ended <- result{v, err}
		}()
	}
	select {
	case r := <-ended:
		return r.v, r.err
	case <-done:
		return v, context.Canceled
	}
}

// ReadInput reads a file, or standard input if its name is -. It reads at most most bytes.
func (a *App) ReadInput(file string, most int64) ([]byte, error) {
	in := io.Reader(a.In)
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	return io.ReadAll(io.LimitReader(in, most))
}

// ErrNoWords: the line that should hold the 24 words is empty.
var ErrNoWords = errors.New("no words")

// AskWords reads the 24 words that recover a home. The prompt says what they are for, if that is
// given. The error is [ErrNoWords] without words, and context.Canceled on an interrupt.
func (a *App) AskWords(purpose string) (string, error) {
	fmt.Fprintf(a.Stderr, "The 24 words%s: ", purpose)
	words, err := a.In.ReadString('\n')
	if !a.IsInteractive() { // nobody has pressed Enter
		fmt.Fprintln(a.Stderr)
	}
	if errors.Is(err, context.Canceled) {
		return "", err
	}
	if words = strings.TrimSpace(words); words == "" {
		return "", ErrNoWords
	}
	return words, nil
}

// KeyText returns a key that is given directly, or as @ and the name of a file.
func KeyText(s string) (string, error) {
	name, key, named := strings.Cut(s, "=")
	if !named {
		name, key = "", s
	}
	if file, ok := strings.CutPrefix(key, "@"); ok {
		b, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("reading key: %w", err)
		}
		key = strings.Join(strings.Fields(string(b)), "")
	}
	if named {
		return name + "=" + key, nil
	}
	return key, nil
}
