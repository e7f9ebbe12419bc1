// Package logbook stores log output, so that it can be searched for what must,
// or must not, be in it.
package logbook

import (
	"bytes"
	"sync"
)

// Book stores what is written to it. It is safe for concurrent use. The zero
// value is empty.
type Book struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (l *Book) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// String returns all that was written so far.
func (l *Book) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
