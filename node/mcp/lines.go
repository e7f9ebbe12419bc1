package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/locket-dev/locket/node/serve"
)

// overLines returns a transport of one message per line. A line that is not a message gets an
// error as its answer, and the connection goes on; the SDK would end it.
func overLines(in io.ReadCloser, out io.WriteCloser) sdk.Transport {
	w := &lineWriter{WriteCloser: out}
	return &sdk.IOTransport{Reader: newLineReader(in, w), Writer: w}
}

// lineWriter lets one line be written at a time. Each call of Write has to be whole lines.
type lineWriter struct {
	io.WriteCloser
	mu sync.Mutex
}

func (w *lineWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.WriteCloser.Write(b)
}

// lineReader reads the lines that are messages, and answers the others.
type lineReader struct {
	io.Closer
	in      *bufio.Reader
	answers io.Writer
	rest    []byte // of the current line, what is not read yet
}

func newLineReader(in io.ReadCloser, answers io.Writer) *lineReader {
	return &lineReader{Closer: in, in: bufio.NewReader(in), answers: answers}
}

func (r *lineReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		line, err := r.next()
		if len(line) == 0 {
			if err != nil {
				return 0, err
			}
			continue
		}
		code, text := malformed("the line", line)
		if len(line) > serve.MaxBody {
			code, text = codeRefused, fmt.Sprintf("the line is longer than %d bytes", serve.MaxBody)
		}
		if text == "" {
			r.rest = append(line, '\n')
		} else if err := writeFault(r.answers, requestID(line), code, text); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// next returns the next line, without the space around it. Of a line that is longer than
// serve.MaxBody it returns only the beginning, which is longer than that, too.
func (r *lineReader) next() ([]byte, error) {
	var line []byte
	for {
		part, err := r.in.ReadSlice('\n')
		if len(line) <= serve.MaxBody {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSpace(line), err
		}
	}
}
