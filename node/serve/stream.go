package serve

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"mime"
	"net/http"
	"time"
)

// MediaTypeLines is one JSON value a line. A stream that fails after it has
// begun ends with a line of the single member "problem".
const MediaTypeLines = "application/jsonl"

// ioTime is how long one write, or one read of a body, may take.
const ioTime = 30 * time.Second

type streamError struct {
	Problem *Problem `json:"problem"`
}

func (h *handler) changes(w http.ResponseWriter, r *http.Request) error {
	p := readParams(r)
	after, follow := p.number("after", 0, 0, math.MaxInt64), p.bool("follow")
	if p.err != nil {
		return p.err
	}
	return writeLines(w, h.Service.Changes(r.Context(), after, follow))
}

func (h *handler) export(w http.ResponseWriter, r *http.Request) error {
	p := readParams(r)
	opt := ExportOptions{Secrets: p.bool("secrets")}
	if p.err != nil {
		return p.err
	}
	return writeLines(w, h.Service.Export(r.Context(), opt))
}

// writeLines writes values as they come, each in full. An error that comes
// before the first value is a problem as usual.
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
			return nil // the client is gone, and has no use for an error
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

func (h *handler) importAll(w http.ResponseWriter, r *http.Request) error {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != MediaTypeLines {
		return kindMedia.problem("", "want "+MediaTypeLines)
	}
	p := readParams(r)
	opt := ImportOptions{Unsigned: p.bool("unsigned"), Signer: p.text("signer")}
	if p.err != nil {
		return p.err
	}
	res, err := h.Service.Import(r.Context(), ReadArchive(r.Body), opt)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, "application/json", res)
	return nil
}

// patient gives each read of a body a deadline of its own, and takes it away
// at the end. The server's ReadTimeout would do for short bodies, but it also
// ends the context of whatever takes longer to answer.
type patient struct {
	io.ReadCloser
	rc *http.ResponseController
}

func (p *patient) Read(b []byte) (int, error) {
	_ = p.rc.SetReadDeadline(time.Now().Add(ioTime)) // in this process there is none to set
	n, err := p.ReadCloser.Read(b)
	if err != nil {
		_ = p.rc.SetReadDeadline(time.Time{})
	}
	return n, err
}

// ReadArchive reads the lines of an export. An error names the line and ends
// the sequence.
func ReadArchive(r io.Reader) iter.Seq2[ExportRecord, error] {
	return func(yield func(ExportRecord, error) bool) {
		n := 0
		for line, err := range lines(r) {
			n++
			var rec ExportRecord
			if err == nil {
				err = decodeStrict(line, &rec)
			}
			if err != nil {
				yield(ExportRecord{}, atLine(err, n))
				return
			}
			if !yield(rec, nil) {
				return
			}
		}
	}
}

func atLine(err error, n int) error {
	p, ok := errors.AsType[*Problem](err)
	if !ok {
		return fmt.Errorf("line %d: %w", n, err)
	}
	at := *p
	at.Detail = fmt.Sprintf("line %d: %s", n, p.Detail)
	return &at
}

// lines reads lines of at most MaxLine bytes, leaving empty ones out. A slice
// is good until the next.
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
