package api

import (
	"container/list"
	"sync"
)

// idleConns limits for each address how many connections may wait for a request,
// because each takes about 24 KB. When another connection begins to wait, the
// one that has waited longest is closed; HTTP allows that for any waiting
// connection. It is safe for concurrent use.
type idleConns struct {
	most int

	mu sync.Mutex
	of map[string]*waitingConns
}

// waitingConns are the waiting connections of an address, those that have waited
// longest first.
type waitingConns struct {
	order list.List // list of *conn
	at    map[*conn]*list.Element
}

// add records that a connection waits. Connections of proxies are not counted.
func (i *idleConns) add(c *conn) {
	if c.address == "" {
		return
	}
	if longest := i.note(c); longest != nil {
		longest.closeIfIdle()
	}
}

func (i *idleConns) note(c *conn) (longest *conn) {
	i.mu.Lock()
	defer i.mu.Unlock()
	w := i.of[c.address]
	if w == nil {
		if i.of == nil {
			i.of = map[string]*waitingConns{}
		}
		w = &waitingConns{at: map[*conn]*list.Element{}}
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

// remove records that a connection no longer waits.
func (i *idleConns) remove(c *conn) {
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
