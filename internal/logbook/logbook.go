// Package logbook keeps what is logged, to be searched for what must, or must
// not, stand in it.
package logbook

import (
	"bytes"
	"sync"
)

// Book is written to and read at the same time. The zero value is empty.
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
