package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/pending"
	"github.com/locket-dev/locket/internal/retry"
)

// channel is the name of the channel on which the relays of one database
// listen.
const channel = "locket_wake"

// The delays after failures: the first, and the longest after several.
const (
	firstWait = time.Second
	longWait  = time.Minute
)

// Wakes carries wake-ups by LISTEN and NOTIFY. It sends them after the commits
// that they are about, many in one message, because a NOTIFY within a
// transaction makes all commits of a database wait for each other. A pooler
// that shares connections between transactions does not forward them.
type Wakes struct {
	store   *Store
	log     *slog.Logger
	me      string
	pending *pending.Set
}

var _ relay.Wakes = (*Wakes)(nil)

// Wakes returns the wake-ups between the relays on this store's database.
func (s *Store) Wakes(log *slog.Logger) *Wakes {
	return &Wakes{store: s, log: log, me: rand.Text(), pending: pending.New()}
}

func (w *Wakes) Send(wake relay.Wake) { w.pending.Add(wake) }

func (w *Wakes) Run(ctx context.Context, heard func(relay.Wake), missed func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		w.pending.Send(ctx, w.me, func(text string) error {
			err := w.notify(ctx, text)
			if err != nil && ctx.Err() == nil {
				w.log.Warn("wake-ups are not sent; trying again", "error", err)
			}
			return err
		})
	}()
	pace := retry.Backoff{First: firstWait, Most: longWait}
	for {
		err := w.listen(ctx, heard, func() { pace.Reset(); missed() }) // it listens again now
		if ctx.Err() != nil {
			<-sent
			return nil
		}
		w.log.Warn("wake-ups are not heard; listening again", "error", err)
		pace.Wait(ctx)
	}
}

// listen listens on a connection of its own until that fails. Everything that
// came before it listened counts as missed.
func (w *Wakes) listen(ctx context.Context, heard func(relay.Wake), missed func()) (err error) {
	conn, err := pgx.ConnectConfig(ctx, w.store.pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		return err
	}
	missed()
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		from, some, err := pending.Decode(n.Payload)
		if err != nil {
			w.log.Warn("a wake-up is malformed: does another program notify on this database?", "error", err)
			continue
		}
		if from == w.me {
			continue
		}
		for _, wake := range some {
			heard(wake)
		}
	}
}

// notify sends one message. The message may be lost if the database crashes.
func (w *Wakes) notify(ctx context.Context, text string) error {
	b := &pgx.Batch{}
	b.Queue("SELECT set_config('synchronous_commit', 'off', true)")
	b.Queue("SELECT pg_notify($1, $2)", channel, text)
	return w.store.pool.SendBatch(ctx, b).Close()
}
