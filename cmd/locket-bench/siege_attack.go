package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/httpsig"
)

// besiegers are the addresses that attackers have.
var besiegers = [...]string{"127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"}

// What each attacker holds from each address at most.
const (
	idlers  = 600       // connections that ask nothing more
	stalled = 40        // uploads that stall
	streams = 40        // event streams
	sentOf  = 1<<20 - 1 // bytes that come of a stalled upload of 1 MiB
)

// besiege lets a stranger, the removed writer of a household, and the owner of another do their
// worst until ctx is done, each with this many requests per second from each address. They continue
// after failures.
func besiege(ctx context.Context, addr string, wearer, hostile *storetest.Household, rate int) {
	var wg sync.WaitGroup
	defer wg.Wait()
	unknown := houses(1)[0]
	for _, from := range besiegers {
		a := attacker{ctx: ctx, addr: addr, from: from, every: time.Second / time.Duration(rate)}
		wg.Go(func() { a.idle(idlers) })
		// The stranger: uploads for a space that is none, keys of spaces that are
		// none, forged signatures, mailboxes.
		wg.Go(func() { a.stall(stalled, unknown, unknown.Owner, "/log", envelope.MaxEntry, 9<<10) })
		wg.Go(func() {
			a.sendRequests(func(n int) []byte {
				switch n % 3 {
				case 0:
					return a.signed("GET", "/log", houses(1)[0], nil, nil)
				case 1:
					forged := *wearer.Owner
					forged.Key = unknown.Owner.Key
					return a.signed("GET", "/log", wearer, &forged, nil)
				}
				return plainRequest("POST", addr, "/v1/mailboxes/"+fmt.Sprintf("%x", random(16)), "left by a stranger")
			})
		})
		// The removed member: uploads, and appends that are none.
		wg.Go(func() { a.stall(stalled, wearer, wearer.Writer, "/deltas", 1<<20, sentOf) })
		wg.Go(func() {
			a.sendRequests(func(int) []byte { return a.signed("POST", "/deltas", wearer, wearer.Writer, random(2000)) })
		})
		// The account: uploads, streams, and whatever is expensive.
		wg.Go(func() { a.stall(stalled, hostile, hostile.Owner, "/deltas", 1<<20, sentOf) })
		wg.Go(func() { a.stream(streams, hostile) })
		wg.Go(func() {
			a.sendRequests(func(n int) []byte {
				if n%2 == 0 {
					return a.signed("POST", "/deltas", hostile, hostile.Owner, random(200_000))
				}
				return a.signed("GET", "/deltas", hostile, hostile.Owner, nil)
			})
		})
	}
	wg.Go(func() { churn(ctx, addr, hostile) })
}

// attacker does something from one address.
type attacker struct {
	ctx        context.Context
	addr, from string
	every      time.Duration
}

func random(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

// signed makes a request of a member of a household, or of its owner if the member is nil.
func (a attacker) signed(method, path string, h *storetest.Household, who *storetest.Person, body []byte) []byte {
	if who == nil {
		who = h.Owner
	}
	r, err := signedRequest(a.addr, method, path, "", h, who, body)
	if err != nil {
		panic(err) // its parts are valid
	}
	return r
}

// sendRequests sends request after request, on one connection as long as it lasts.
func (a attacker) sendRequests(next func(n int) []byte) {
	var c *cloudConn
	defer func() {
		if c != nil {
			c.Close()
		}
	}()
	began := time.Now()
	for n := 0; wait.For(a.ctx, time.Until(began.Add(time.Duration(n)*a.every))); n++ {
		if c == nil {
			var err error
			if c, err = dialFrom(a.ctx, a.addr, a.from); err != nil {
				c = nil
				continue
			}
		}
		_ = c.SetDeadline(time.Now().Add(5 * time.Second)) // else the write or the read says so
		if c.ask(next(n)) != nil {                         // refused, as it should be; some close the connection
			c.Close()
			c = nil
		}
	}
}

// holdOpen keeps n connections open on which a head and more was sent, and reopens each that the relay
// closes.
func (a attacker) holdOpen(n int, head func() []byte, more []byte) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for range n {
		if a.ctx.Err() != nil {
			return
		}
		wg.Go(func() {
			for a.ctx.Err() == nil {
				if c, err := dialFrom(a.ctx, a.addr, a.from); err == nil {
					end := context.AfterFunc(a.ctx, func() { c.Close() })
					_, _ = (&net.Buffers{head(), more}).WriteTo(c.Conn) // it may be refused before all has gone
					_, _ = io.Copy(io.Discard, c)
					end()
					c.Close()
				}
				wait.For(a.ctx, time.Second)
			}
		})
	}
}

func (a attacker) idle(n int) {
	a.holdOpen(n, func() []byte { return plainRequest("GET", a.addr, "/healthz", "") }, nil)
}

// stall holds uploads open that announce a size and send only a part.
func (a attacker) stall(n int, h *storetest.Household, who *storetest.Person, path string, size, sent int) {
	body := random(sent) // one for all: who stalls does not tire itself
	digest := httpsig.Digest(body)
	a.holdOpen(n, func() []byte {
		head, err := signedHead(a.addr, "POST", path, "", h, who, size, digest)
		if err != nil {
			panic(err) // its parts are valid
		}
		return head
	}, body)
}

func (a attacker) stream(n int, h *storetest.Household) {
	a.holdOpen(n, func() []byte { return a.signed("GET", "/events", h, h.Owner, nil) }, nil)
}

// churn adds and removes members, ten times a second.
func churn(ctx context.Context, addr string, h *storetest.Household) {
	began := time.Now()
	for n := 0; wait.For(ctx, time.Until(began.Add(time.Duration(n)*100*time.Millisecond))); n++ {
		guest := houses(1)[0].Owner
		for _, e := range []*envelope.Entry{h.Add(h.Owner, guest, envelope.Reader), h.Remove(h.Owner, guest)} {
			r, err := signedRequest(addr, "POST", "/log", "", h, h.Owner, e.Bytes())
			if err != nil {
				return
			}
			c, err := dialFrom(ctx, addr, besiegers[n%len(besiegers)])
			if err != nil {
				return
			}
			_ = c.SetDeadline(time.Now().Add(5 * time.Second)) // else the write or the read says so
			err = c.ask(r)
			c.Close()
			if err != nil {
				return // its quota is used up: the log has moved on without it
			}
		}
	}
}
