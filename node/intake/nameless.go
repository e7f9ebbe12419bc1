package intake

import (
	"container/list"
	"sync"

	"github.com/locket-dev/locket/internal/clientaddr"
)

// namelessOfOne is how many connections from one address, see hostOf, may be unidentified at a
// time.
const namelessOfOne = 8

// nameless bounds the number of connections that have not said who they are, of each
// address and of all. If one more comes, the one that has waited longest ends, of the same
// address where that has its share, because a device identifies itself at once. If the new
// one were refused, a stranger on the device's machine or behind its router would shut the
// device out by waiting. It is safe for concurrent use.
type nameless struct {
	most int

	mu    sync.Mutex
	order list.List // of *limitConn; the first has waited longest
	at    map[*limitConn]*list.Element
	of    map[string]int // by address
}

func newNameless(most int) *nameless {
	return &nameless{most: most, at: map[*limitConn]*list.Element{}, of: map[string]int{}}
}

// add lets a connection wait.
func (p *nameless) add(c *limitConn) {
	from := hostOf(c.RemoteAddr().String())
	p.mu.Lock()
	defer p.mu.Unlock()
	if full := p.of[from] >= namelessOfOne; full || p.order.Len() >= p.most {
		for e := p.order.Front(); e != nil; e = e.Next() {
			if o := e.Value.(*limitConn); !full || hostOf(o.RemoteAddr().String()) == from {
				p.drop(o)
				o.Close()
				break
			}
		}
	}
	p.at[c] = p.order.PushBack(c)
	p.of[from]++
}

// remove notes that a connection has said who it is, or has ended.
func (p *nameless) remove(c *limitConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop(c)
}

func (p *nameless) drop(c *limitConn) {
	e := p.at[c]
	if e == nil {
		return
	}
	p.order.Remove(e)
	delete(p.at, c)
	from := hostOf(c.RemoteAddr().String())
	if p.of[from]--; p.of[from] == 0 {
		delete(p.of, from)
	}
}

// hostOf returns what limits count an address by, and the text itself where it is no
// address.
func hostOf(at string) string {
	if a := clientaddr.Parse(at); a.IsValid() {
		return clientaddr.Customer(a).String()
	}
	return at
}
