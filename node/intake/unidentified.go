package intake

import (
	"container/list"
	"sync"

	"github.com/locket-dev/locket/internal/clientaddr"
)

// maxUnidentifiedPerHost is how many connections from one address, see hostOf, may be unidentified at
// the same time.
const maxUnidentifiedPerHost = 8

// unidentifiedConns limits the number of connections that have not identified themselves, for each
// address and in total. If there is one too many, the one that has waited longest ends (of the
// same address, if that has used up its share), because a device identifies itself at once. If
// the new one were refused instead, a stranger on the device's machine or behind its router
// could shut the device out by waiting. It is safe for concurrent use.
type unidentifiedConns struct {
	max int

	mu       sync.Mutex
	order    list.List // of *limitConn; the first has waited longest
	elements map[*limitConn]*list.Element
	perHost  map[string]int // by address
}

func newUnidentifiedConns(most int) *unidentifiedConns {
	return &unidentifiedConns{max: most, elements: map[*limitConn]*list.Element{}, perHost: map[string]int{}}
}

// add adds a waiting connection.
func (p *unidentifiedConns) add(c *limitConn) {
	from := hostOf(c.RemoteAddr().String())
	p.mu.Lock()
	defer p.mu.Unlock()
	if full := p.perHost[from] >= maxUnidentifiedPerHost; full || p.order.Len() >= p.max {
		for e := p.order.Front(); e != nil; e = e.Next() {
			if o := e.Value.(*limitConn); !full || hostOf(o.RemoteAddr().String()) == from {
				p.drop(o)
				o.Close()
				break
			}
		}
	}
	p.elements[c] = p.order.PushBack(c)
	p.perHost[from]++
}

// remove removes a connection that has identified itself, or has ended.
func (p *unidentifiedConns) remove(c *limitConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop(c)
}

func (p *unidentifiedConns) drop(c *limitConn) {
	e := p.elements[c]
	if e == nil {
		return
	}
	p.order.Remove(e)
	delete(p.elements, c)
	from := hostOf(c.RemoteAddr().String())
	if p.perHost[from]--; p.perHost[from] == 0 {
		delete(p.perHost, from)
	}
}

// hostOf returns the value by which limits count an address; if the text is no address, it is
// the text itself.
func hostOf(at string) string {
	if a := clientaddr.Parse(at); a.IsValid() {
		return clientaddr.Customer(a).String()
	}
	return at
}
