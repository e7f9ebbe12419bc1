// Package natswake carries wake-ups between relays through a NATS server. It is
// for cases in which LISTEN and NOTIFY do not work well: behind a connection
// pooler, or if there are more relays than the database should have connections
// for. A wake-up contains only the id of a space or mailbox. NATS does not store
// wake-ups; a relay that may have missed some looks for changes itself.
package natswake

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/pending"
)

// Subject is the subject on which relays send and listen, unless the path of
// their URL names another. Relays on different databases need different
// subjects.
const Subject = "locket.wake"

// firstWait is how long a lost connection waits before it is tried again.
const firstWait = time.Second

// answer is how long the server may take to answer a ping.
const answer = 10 * time.Second

// maxMissed is the greatest number of received wake-ups that wait to be handled.
const maxMissed = 1 << 16

// ErrURL: the server's address is invalid.
var ErrURL = errors.New("want nats://HOST[:PORT][/SUBJECT], or tls:// instead")

// Wakes is a [relay.Wakes].
type Wakes struct {
	server, subject, shown string
	log                    *slog.Logger
	me                     string
	pending                *pending.Set
}

var _ relay.Wakes = (*Wakes)(nil)

// New returns wake-ups through a server,
// nats://[USER:PASSWORD@]HOST[:PORT][/SUBJECT], or tls://. It connects when Run
// is called, and again whenever the connection is lost.
func New(address string, log *slog.Logger) (*Wakes, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "nats" && u.Scheme != "tls" || u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, ErrURL // the parser's own message contains the password
	}
	w := &Wakes{subject: Subject, log: log, me: rand.Text(), pending: pending.New()}
	if len(u.Path) > 1 {
		w.subject = u.Path[1:]
	}
	for _, r := range w.subject {
		if !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '.' || r == '-' || r == '_') {
			return nil, fmt.Errorf("%w: a subject has letters, digits, dots, hyphens and underscores", ErrURL)
		}
	}
	u.Path = ""
	w.server, w.shown = u.String(), u.Redacted()
	return w, nil
}

func (w *Wakes) Send(wake relay.Wake) { w.pending.Add(wake) }

func (w *Wakes) Run(ctx context.Context, heard func(relay.Wake), missed func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	subscribed := make(chan struct{})
	// Wake-ups arrive for certain only after the server has answered a ping that
	// was sent after the subscription. A relay that looked for changes before
	// that could miss those in between.
	up := func(conn *nats.Conn) {
		select {
		case <-subscribed:
		case <-ctx.Done():
			return
		}
		if conn.FlushTimeout(answer) == nil { // otherwise the connection is lost again
			missed()
		}
	}
	away := func(why error) {
		w.log.Warn("the NATS server can't be reached: until it is back, requests that wait here check now and then for what came to other relays", "server", w.shown, "error", why)
	}
	conn, err := nats.Connect(w.server, nats.Name("locket-cloud"), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(firstWait),
		nats.ReconnectBufSize(-1), // wake-ups that can't be sent stay in pending, each once
		nats.ConnectHandler(up),
		nats.ReconnectHandler(func(conn *nats.Conn) {
			w.log.Info("the NATS server is back", "server", w.shown)
			up(conn)
		}),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { away(err) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if ctx.Err() == nil {
				away(err)
			}
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			w.log.Warn("wake-ups were lost", "server", w.shown, "error", err)
			missed()
		}))
	if err != nil {
		return fmt.Errorf("wake-ups by %s: %w", w.shown, err)
	}
	defer conn.Close()
	if !conn.IsConnected() {
		away(conn.LastError())
	}
	sub, err := conn.Subscribe(w.subject, func(m *nats.Msg) { w.handle(string(m.Data), heard) })
	if err == nil {
		err = sub.SetPendingLimits(maxMissed, -1)
	}
	if err != nil {
		return fmt.Errorf("wake-ups by %s: %w", w.shown, err)
	}
	close(subscribed)
	// The loss of the connection was logged before.
	w.pending.Send(ctx, w.me, func(text string) error { return conn.Publish(w.subject, []byte(text)) })
	cancel()
	return nil
}

// handle handles one message, unless this relay sent it.
func (w *Wakes) handle(text string, heard func(relay.Wake)) {
	from, some, err := pending.Decode(text)
	if err != nil {
		w.log.Warn("a wake-up is malformed: does another program send on this subject?", "subject", w.subject, "error", err)
		return
	}
	if from == w.me {
		return
	}
	for _, wake := range some {
		heard(wake)
	}
}
