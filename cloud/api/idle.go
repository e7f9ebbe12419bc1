package api

import (
	"container/list"
	"sync"
)

// idle holds each address to so many connections that wait for a request: each
// costs some 24 KB. Where one more begins to wait, that one ends which has
// waited longest, as any may that waits. Safe for concurrent use.
type idle struct {
	most int

	mu sync.Mutex
	of map[string]*waiting
}

// waiting are the connections of an address, those first that have waited
// longest.
type waiting struct {
	order list.List // of *conn
	at    map[*conn]*list.Element
}

// add notes that a connection waits; a proxy's are not counted.
func (i *idle) add(c *conn) {
	if c.address == "" {
		return
	}
	if longest := i.note(c); longest != nil {
		longest.closeIfIdle()
	}
}

func (i *idle) note(c *conn) (longest *conn) {
	i.mu.Lock()
	defer i.mu.Unlock()
	w := i.of[c.address]
	if w == nil {
		if i.of == nil {
			i.of = map[string]*waiting{}
		}
		w = &waiting{at: map[*conn]*list.Element{}}
		i.of[c.address] = w
	}
	if w.at[c] == nil {
		w.at[c] = w.order.PushBack(c)
	}
	if w.order.Len() > i.most {
		longest = w.order.Remove(w.order.Front()).(*conn)
		delete(w.at, longest)
	}
	return longest
}

// remove notes that a connection waits no more.
func (i *idle) remove(c *conn) {
	i.mu.Lock()
	defer i.mu.Unlock()
	w := i.of[c.address]
	if w == nil || w.at[c] == nil {
		return
	}
	w.order.Remove(w.at[c])
	if delete(w.at, c); len(w.at) == 0 {
		delete(i.of, c.address)
	}
}
