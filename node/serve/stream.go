package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"time"
)

// MediaTypeLines is the content type of JSON lines, one value per line. If a
// stream fails after it has begun, its last line is an object with the single
// member "problem".
const MediaTypeLines = "application/jsonl"

// ioTime is how long one write, or one read of a body, may take.
const ioTime = 30 * time.Second

type streamError struct {
	Problem *Problem `json:"problem"`
}

// writeLines writes each value as soon as it is available. An error before the
// first value becomes an ordinary problem.
func writeLines[T any](w http.ResponseWriter, values iter.Seq2[T, error]) error {
	rc := http.NewResponseController(w)
	begun := false
	begin := func() {
		w.Header().Set("Content-Type", MediaTypeLines)
		w.WriteHeader(http.StatusOK)
		begun = true
	}
	for v, err := range values {
		if err != nil {
			return err
		}
		if !begun {
			begin()
		}
		if !writeLine(w, v) {
			return nil // the client is gone
		}
		_ = rc.Flush()
	}
	if !begun {
		begin()
	}
	return nil
}

func writeLine(w io.Writer, v any) bool {
	b, err := json.Marshal(v)
	if err != nil {
		b, _ = json.Marshal(streamError{kindInternal.problem("", "a line can't be written as JSON")})
		_, _ = w.Write(append(b, '\n'))
		return false
	}
	_, werr := w.Write(append(b, '\n'))
	return werr == nil
}

// patient gives each read of a body a deadline, and removes it at the end. The
// server's ReadTimeout would be enough for short bodies, but it would also end
// the context of requests that take longer to answer. Only waiting counts, not
// processing: an import may take hours.
type patient struct {
	io.ReadCloser
	rc     *http.ResponseController
	came   int64         // bytes
	waited time.Duration // time spent waiting for them
}

// next sets the deadline for the next piece.
func (p *patient) next() {
	left := bodyWait + time.Duration(p.came/bodyRate)*time.Second - p.waited
	_ = p.rc.SetReadDeadline(time.Now().Add(min(ioTime, left))) // a writer without deadlines is one of this process
}

func (p *patient) Read(b []byte) (int, error) {
	p.next()
	begun := time.Now()
	n, err := p.ReadCloser.Read(b)
	p.came += int64(n)
	p.waited += time.Since(begun)
	if err == io.EOF {
		_ = p.rc.SetReadDeadline(time.Time{}) // after other errors the deadline stays, because the server still looks for the end
	}
	return n, err
}

// lines reads lines of at most MaxLine bytes and skips empty ones. A slice is
// valid until the next line.
func lines(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		s := bufio.NewScanner(r)
		s.Buffer(make([]byte, 0, 64<<10), MaxLine)
		for s.Scan() {
			if line := bytes.TrimSpace(s.Bytes()); len(line) > 0 && !yield(line, nil) {
				return
			}
		}
		switch err := s.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			yield(nil, kindTooLarge.problem("", fmt.Sprintf("a line has more than %d bytes", MaxLine)))
		case err != nil:
			yield(nil, requestError(err))
		}
	}
}

// linesOf returns the lines of the answer to send's request. If the last line
// has a problem, it is returned as the error.
func linesOf[T any](ctx context.Context, send func(context.Context) (*http.Response, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		res, err := send(ctx)
		if err != nil {
			yield(zero, err)
			return
		}
		defer res.Body.Close()
		for line, err := range lines(res.Body) {
			if err != nil {
				if parent := context.Cause(ctx); parent != nil {
					err = parent
				}
				yield(zero, fmt.Errorf("reading the node's answer: %w", err))
				return
			}
			if bytes.HasPrefix(line, []byte(`{"problem":`)) {
				var last streamError
				if err := json.Unmarshal(line, &last); err == nil && last.Problem != nil {
					yield(zero, last.Problem)
					return
				}
			}
			var v T
			if err := json.Unmarshal(line, &v); err != nil {
				yield(zero, fmt.Errorf("reading the node's answer: %w", err))
				return
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}
