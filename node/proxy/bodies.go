package proxy

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

const (
	maxBodies = 2*MaxBody + 2*bodyPiece // bytes of bodies in memory; an app has half of what the others leave
	bodyPiece = 256 << 10
)

var errBodies = errors.New("the app has reached a limit: the bodies of its other requests fill its share of the memory")

// bodies bounds the memory that bodies of requests take until the model server has answered.
type bodies struct {
	mu  sync.Mutex
	all int
	of  map[string]int // by app
}

// add reserves n bytes for an app, or returns them if n is negative. It reports whether there is
// room.
func (b *bodies) add(app string, n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > 0 && b.of[app]+n > (maxBodies-b.all+b.of[app])/2 {
		return false
	}
	b.all += n
	if b.of[app] += n; b.of[app] == 0 {
		delete(b.of, app)
	}
	return true
}

// read reads a body. Its memory is reserved until done is called, also after an error.
func (b *bodies) read(app string, from io.Reader) (body []byte, done func(), err error) {
	held := 0
	done = func() { b.add(app, -held) }
	var out bytes.Buffer
	for {
		if !b.add(app, bodyPiece) {
			return nil, done, errBodies
		}
		held += bodyPiece
		if _, err := io.CopyN(&out, from, bodyPiece); err == io.EOF {
			return out.Bytes(), done, nil
		} else if err != nil {
			return nil, done, err
		}
	}
}
