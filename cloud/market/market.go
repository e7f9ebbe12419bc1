// Package market keeps a market: listings with their sealed bundles, orders, reviews, and the money
// that is held for orders. It checks signed objects and stores them unchanged. It decrypts nothing,
// and imports nothing that could.
//
// An order only moves by the state machine of package trade. A step, its stamp and its bookings are
// one transaction, so there is never a booking without its step, or a step without its booking.
//
// Deadlines are columns that a sweep searches. A job for each deadline would need its own queue in
// SQLite and PostgreSQL, and would only repeat the column. A sweep that is late or runs twice does
// no harm.
package market

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/cloud/market/pay"
	"github.com/locket-dev/locket/cloud/market/pay/voucher"
	"github.com/locket-dev/locket/cloud/market/pay/x402"
	"github.com/locket-dev/locket/cloud/market/tables"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/translog"
)

// Errors that callers can tell apart. An invalid signed object is an error of package trade.
var (
	ErrNotFound = errors.New("it is not here")
	ErrEnded    = errors.New("the listing has ended")
	ErrVersion  = errors.New("the listing has moved on to another version")
	ErrFunds    = errors.New("there is not enough to pay with")
	ErrEarly    = errors.New("the period before is not over")
	ErrFull     = errors.New("the market accepts no more of these")
	ErrReviewed = errors.New("the order has another review")
)

// Log is the transparency log, which the package translog below this one implements.
type Log interface {
	Append(ctx context.Context, tx *sql.Tx, e translog.Entry) (int64, error)
	Publish(ctx context.Context) (*translog.Signed, error)
	// Prove returns proofs that entries of these kinds and subjects are in the published log, and
	// the signed checkpoint. The proof of a missing entry is nil.
	Prove(ctx context.Context, tx *sql.Tx, of []translog.Entry) ([]*translog.Inclusion, []byte, error)
}

// Config is the configuration of a market. The comments give the values that replace a zero.
type Config struct {
	DB        *tables.DB
	Key       ed25519.PrivateKey // the market's key
	Arbiter   string             // decides disputes: a key and a recipient, as locket share key prints them
	Fee       uint32             // share of sellers' earnings, in hundredths of a percent
	Vouchers  *voucher.Provider
	Pages     pay.Provider   // takes payments on its own pages, such as Stripe; nil: there is none
	X402      *x402.Provider // takes payments of agents; nil: none
	Log       Log            // nil: nothing is logged
	LogName   string         // public name of Log
	Witnesses []string       // public witnesses of Log, in the form of [trade.Terms]
	Listings  int            // live listings of one seller; 0: 100
	Bytes     int64          // the most that all bundles, listings and moved orders may take together; 0: 20 GiB
	Now       func() time.Time
	Logger    *slog.Logger
}

// Market is a market. It is safe for concurrent use.
type Market struct {
	c       Config
	ledger  *ledger.Ledger
	party   trade.Party
	arbiter trade.Key
}

// New checks the configuration, and makes a market.
func New(c Config) (*Market, error) {
	r, err := envelope.ParseRequest(c.Arbiter)
	if err != nil {
		return nil, fmt.Errorf("the arbiter's key: %w", err)
	}
	if c.Fee > 5000 {
		return nil, fmt.Errorf("fee: %d hundredths of a percent: want 5000 at most", c.Fee)
	}
	if len(c.Key) != ed25519.PrivateKeySize {
		return nil, errors.New("the market has no key")
	}
	c.Listings = cmp.Or(c.Listings, 100)
	c.Bytes = cmp.Or(c.Bytes, 20<<30)
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return &Market{c: c, ledger: ledger.New(c.DB.Dialect, c.Now), party: trade.PartyOf(c.Key), arbiter: trade.KeyOf(r.Key)}, nil
}

// Terms returns the market's terms.
func (m *Market) Terms() trade.Terms {
	pays := []string{"voucher"}
	if m.c.Pages != nil {
		pays = append(pays, m.c.Pages.Name())
	}
	if m.c.X402 != nil {
		pays = append(pays, x402.Name)
	}
	return trade.Terms{Market: m.party.Key, Arbiter: m.c.Arbiter, Fee: m.c.Fee, Pays: pays, Log: m.c.LogName, Witnesses: m.c.Witnesses}
}

// log adds an entry about a signed object to the log. Only a takedown has a reason.
func (m *Market) log(ctx context.Context, tx *sql.Tx, kind translog.Kind, subject string, signed []byte, reason string) error {
	if m.c.Log == nil {
		return nil
	}
	_, err := m.c.Log.Append(ctx, tx, translog.Entry{Kind: kind, Subject: subject, Digest: translog.Digest(signed), At: m.c.Now().UnixMilli(), Reason: reason})
	return err
}

// Close waits until the answers to what was sent to a facilitator are stored. The database has to
// be closed after it.
func (m *Market) Close() error {
	if m.c.X402 == nil {
		return nil
	}
	return m.c.X402.Close()
}

// sweepEvery is how often deadlines are checked. They are hours long.
const sweepEvery = time.Minute

// publishEvery is how often the log is published.
const publishEvery = 10 * time.Second

// Run works until ctx is done. It ends orders whose time is over, deletes those that were never
// paid, and bundles that nobody may fetch any more, numbers old reviews that have no number yet,
// and publishes the log.
func (m *Market) Run(ctx context.Context) error {
	every := time.NewTicker(publishEvery)
	defer every.Stop()
	var asking sync.WaitGroup
	defer asking.Wait()
	if m.c.X402 != nil { // separately, since a facilitator may be slow
		asking.Go(func() { m.ask(ctx) })
	}
	var swept time.Time
	for {
		var err error
		if m.c.Log != nil { // before the sweep, which may take long
			_, err = m.c.Log.Publish(ctx)
		}
		if now := time.Now(); now.Sub(swept) >= sweepEvery {
			swept, err = now, errors.Join(err, m.Sweep(ctx))
		}
		if err != nil && ctx.Err() == nil {
			m.c.Logger.Error("market: it will be tried again", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-every.C:
		}
	}
}

// ask continues payments by x402 until ctx is done.
func (m *Market) ask(ctx context.Context) {
	every := time.NewTicker(publishEvery)
	defer every.Stop()
	for {
		if err := m.c.X402.Resume(ctx, m.funds(x402.Name)); err != nil && ctx.Err() == nil {
			m.c.Logger.Error("market: payments by x402: it will be tried again", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
	}
}

// swept is how many orders one sweep ends. Those that hold money come first, because anybody with
// keys can make others for free.
const swept = 100

// Sweep makes one pass.
func (m *Market) Sweep(ctx context.Context) error {
	now := m.c.Now().Unix()
	var due []trade.Hash
	err := m.c.DB.Read(ctx, func(tx *sql.Tx) (err error) {
		due, err = list[trade.Hash](ctx, tx, `SELECT id FROM orders WHERE deadline > 0 AND deadline <= $1 ORDER BY phase = 'ordered', deadline LIMIT $2`, now, swept)
		return err
	})
	var failed []error
	for _, id := range due {
		failed = append(failed, m.expire(ctx, id))
	}
	return errors.Join(append(failed, err, m.clean(ctx, now), m.forget(ctx, now), m.c.Vouchers.Clean(ctx), m.numberReviews(ctx))...)
}

// KeepSold is how long a buyer may fetch the bundle after an order has ended, in seconds.
const KeepSold = 30 * 24 * 60 * 60

// clean deletes bundles that no live listing and no order needs.
func (m *Market) clean(ctx context.Context, now int64) error {
	const unneeded = ` FROM bundles WHERE NOT EXISTS
		(SELECT 1 FROM versions v JOIN listings l ON l.version = v.hash WHERE v.root = bundles.root AND l.state = 'live')
		AND NOT EXISTS (SELECT 1 FROM versions v JOIN orders o ON o.version = v.hash WHERE v.root = bundles.root AND (o.deadline > 0 OR o.moved > $1))`
	return m.c.DB.Change(ctx, func(tx *sql.Tx) error {
		// Whoever publishes one of them again locks it first. The second statement sees what they have
		// committed meanwhile.
		roots, err := list[trade.Hash](ctx, tx, `SELECT root`+unneeded+` ORDER BY root`+m.c.DB.Dialect.Lock(), now-KeepSold)
		if err != nil {
			return fmt.Errorf("delete bundles: %w", err)
		}
		for _, root := range roots {
			if _, err := tx.ExecContext(ctx, `DELETE`+unneeded+` AND root = $2`, now-KeepSold, root[:]); err != nil {
				return fmt.Errorf("delete bundles: %w", err)
			}
		}
		return nil
	})
}

// forgotten is how many orders one sweep deletes.
const forgotten = 1000

// forget deletes orders that were never paid, [trade.KeepUnpaid] after their last step. A later
// payment remains its buyer's, see [Market.funds]; a payment that is under way keeps the order.
func (m *Market) forget(ctx context.Context, now int64) error {
	return m.c.DB.Change(ctx, func(tx *sql.Tx) error {
		ids, err := list[trade.Hash](ctx, tx, `SELECT id FROM orders WHERE phase IN ('ordered', 'expired') AND moved <= $1 ORDER BY moved LIMIT $2`+m.c.DB.Dialect.Lock(), now-trade.KeepUnpaid, forgotten)
		for _, id := range ids {
			var under int
			if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM x402_payments WHERE of = $1 AND state IN ('sent', 'unclear', 'settled')`, id.String()).Scan(&under); err != nil {
				return fmt.Errorf("delete orders: %w", err)
			}
			if under > 0 {
				continue
			}
			for _, query := range []string{`DELETE FROM steps WHERE of = $1`, `DELETE FROM orders WHERE id = $1`} {
				if _, err := tx.ExecContext(ctx, query, id[:]); err != nil {
					return fmt.Errorf("delete orders: %w", err)
				}
			}
		}
		return err
	})
}

// list reads one column of hashes, keys or bytes.
func list[T trade.Hash | trade.Key | []byte](ctx context.Context, tx *sql.Tx, query string, args ...any) ([]T, error) {
	all, err := tables.Column[[]byte](ctx, tx, query, args...)
	var out []T
	for _, b := range all {
		var v T
		switch p := any(&v).(type) {
		case *trade.Hash:
			copy(p[:], b)
		case *trade.Key:
			copy(p[:], b)
		case *[]byte:
			*p = b
		}
		out = append(out, v)
	}
	return out, err
}

// one reads a row; it returns [ErrNotFound] if there is none.
func one(row *sql.Row, into ...any) error {
	err := row.Scan(into...)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return err
}
