package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/remote/page"
)

// restarts is how often a relay is killed under load.
const restarts = 3

// restart kills a relay with SIGKILL while members append, and starts it again on the same data.
// What was acknowledged must be there, in its place, exactly once. It also measures how long
// members wait for their next answer.
func (b *cloudBench) restart(ctx context.Context) (out []result, err error) {
	host, end, err := startRelay(ctx, b.stderr)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	all := houses(b.members)
	if err := settleAll(ctx, host.addr, all); err != nil {
		return nil, err
	}
	r := &restarted{acked: make(chan struct{}, b.members*b.requests)}
	addr := host.addr
	r.addr.Store(&addr)
	members, quit := context.WithCancel(ctx)
	defer quit()
	sent, errs := make([][][]byte, len(all)), make([]error, len(all))
	var wg sync.WaitGroup
	for i, h := range all {
		wg.Go(func() { sent[i], errs[i] = r.append(members, h, b.requests) })
	}
	ended := make(chan struct{})
	go func() { wg.Wait(); close(ended) }()
	for n := range restarts { // after each quarter
		for range b.members * b.requests / (restarts + 1) {
			select {
			case <-r.acked:
			case <-ended: // with errors
			}
		}
		host.kill()
		if err := host.restart(ctx); err != nil {
			quit()
			<-ended
			return nil, fmt.Errorf("start %d after a kill: %w", n+1, err)
		}
		addr := host.addr
		r.addr.Store(&addr)
	}
	<-ended
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	lost := 0
	for i, h := range all {
		n, err := missing(ctx, host.addr, h, sent[i])
		if err != nil {
			return nil, err
		}
		lost += n
	}
	note := fmt.Sprintf("%d members at once, killed and started %d times", b.members, restarts)
	out = []result{{Suite: "cloud", Case: "restart_lost", N: b.members * b.requests, Value: float64(lost), Unit: "deltas", Note: "acknowledged and not there; " + note}}
	if late := r.late; len(late) > 0 {
		out = append(out, result{Suite: "cloud", Case: "restart_wait_p99", N: len(late), Value: round(percentile(milliseconds(late), 99)), Unit: "ms",
			Note: "from a request that broke off to its answer; " + note})
	}
	if lost > 0 {
		err = fmt.Errorf("%d deltas of %d that were acknowledged are lost", lost, b.members*b.requests)
	}
	return out, err
}

// restarted is what the members of a relay that is killed and restarted share.
type restarted struct {
	addr  atomic.Pointer[string]
	acked chan struct{} // one for each append; it has room for all

	mu   sync.Mutex
	late []time.Duration
}

// append sends deltas one after the other, repeating each until it is answered, and returns their
// bytes.
func (r *restarted) append(ctx context.Context, h *storetest.Household, n int) (sent [][]byte, err error) {
	var conn *cloudConn
	defer func() {
		if conn != nil {
			conn.Close()
		}
	}()
	for range n {
		body := nextDeltas(h, 1)
		items, err := page.DecodeItems(body, 1)
		if err != nil {
			return nil, err
		}
		sent = append(sent, items[0])
		var broke time.Time
		for {
			if err = r.send(ctx, &conn, h, body); err == nil {
				break
			}
			if conn != nil {
				conn.Close()
				conn = nil
			}
			if broke.IsZero() {
				broke = time.Now()
			}
			if time.Since(broke) > time.Minute || ctx.Err() != nil {
				return nil, fmt.Errorf("no answer since the relay was killed: %w", err)
			}
			time.Sleep(5 * time.Millisecond) // it is starting
		}
		if !broke.IsZero() {
			r.mu.Lock()
			r.late = append(r.late, time.Since(broke))
			r.mu.Unlock()
		}
		r.acked <- struct{}{}
	}
	return sent, nil
}

func (r *restarted) send(ctx context.Context, conn **cloudConn, h *storetest.Household, body []byte) error {
	addr := *r.addr.Load()
	request, err := signedRequest(addr, "POST", "/deltas", "", h, h.Owner, body)
	if err != nil {
		return err
	}
	if *conn == nil {
		if *conn, err = dialCloud(ctx, addr); err != nil {
			*conn = nil
			return err
		}
	}
	return (*conn).ask(request)
}

// missing counts the deltas of a household's owner that are not at their place. It returns an error
// if there is anything else.
func missing(ctx context.Context, addr string, h *storetest.Household, sent [][]byte) (int, error) {
	relay, err := remote.New("http://"+addr, remote.Option{})
	if err != nil {
		return 0, err
	}
	defer relay.Close()
	at := relay.Space(h.Space, h.Reader.ID, httpsig.KeySigner(h.Reader.Key))
	var have [][]byte
	for cursor := uint64(0); ; {
		ds, next, err := at.Pull(ctx, cursor, page.MaxDeltas, 0)
		if err != nil {
			return 0, err
		}
		if len(ds) == 0 {
			break
		}
		for _, d := range ds {
			have = append(have, d.Bytes())
		}
		cursor = next
	}
	if len(have) > len(sent) {
		return 0, fmt.Errorf("%d deltas of %d are there twice", len(have)-len(sent), len(sent))
	}
	lost := 0
	for i, b := range sent {
		if i >= len(have) || !bytes.Equal(have[i], b) {
			lost++
		}
	}
	return lost, nil
}
