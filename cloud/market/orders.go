package market

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/cloud/market/pay"
	"github.com/locket-dev/locket/cloud/market/tables"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/translog"
)

// Order accepts a buyer's order of the newest version of a live listing. Repeating it changes
// nothing.
func (m *Market) Order(ctx context.Context, signed []byte, by trade.Key) (c trade.Chain, err error) {
	o, id, err := trade.ReadOrder(signed)
	if err != nil {
		return c, err
	}
	if o.Buyer != by {
		return c, fmt.Errorf("order: buyer: %w", trade.ErrParty)
	}
	err = m.c.DB.Change(ctx, func(tx *sql.Tx) error {
		if c, err = m.chain(ctx, tx, id); err == nil || !errors.Is(err, ErrNotFound) {
			return err
		}
		var state string
		var version []byte
		err := one(tx.QueryRowContext(ctx, `SELECT v.signed, l.state, l.version FROM versions v JOIN listings l ON l.n = v.listing WHERE v.hash = $1`, o.Listing[:]), &c.Listing, &state, &version)
		switch {
		case err != nil:
			return fmt.Errorf("order: listing %s: %w", o.Listing, err)
		case state != trade.Live:
			return fmt.Errorf("order: %w", ErrEnded)
		case trade.Hash(version) != o.Listing:
			return fmt.Errorf("order: %w", ErrVersion)
		}
		var open int
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM orders WHERE buyer = $1 AND phase = 'ordered'`, o.Buyer[:]).Scan(&open); err != nil {
			return err
		}
		if open >= maxOpen {
			return fmt.Errorf("%w: a buyer may have at most %d unpaid orders", ErrFull, maxOpen)
		}
		l, err := trade.ReadListing(c.Listing)
		if err != nil {
			return err
		}
		at := m.c.Now().Unix()
		s, err := trade.Begin(l, o, id, at)
		if err != nil {
			return err
		}
		c.Order = signed
		if c.Stamp, err = trade.SignStamp(id, at, m.party); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO orders (id, version, buyer, seller, arbiter, phase, deadline, moved, signed, stamp) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
			id[:], o.Listing[:], o.Buyer[:], l.Seller[:], l.Arbiter[:], s.Phase, s.Deadline, at, c.Order, c.Stamp)
		return err
	})
	return c, err
}

// maxOpen is how many orders of a buyer may wait for payment.
const maxOpen = 20

// chain reads an entire order, and locks it.
func (m *Market) chain(ctx context.Context, tx *sql.Tx, id trade.Hash) (c trade.Chain, err error) {
	err = one(tx.QueryRowContext(ctx, `SELECT v.signed, o.signed, o.stamp FROM orders o JOIN versions v ON v.hash = o.version WHERE o.id = $1`+m.lock("o"), id[:]), &c.Listing, &c.Order, &c.Stamp)
	if err != nil {
		return c, fmt.Errorf("order %s: %w", id, err)
	}
	return c, m.links(ctx, tx, id, &c)
}

// lock is for a query over more than one table.
func (m *Market) lock(of string) string {
	if l := m.c.DB.Dialect.Lock(); l != "" {
		return l + " OF " + of
	}
	return ""
}

func (m *Market) links(ctx context.Context, tx *sql.Tx, id trade.Hash, c *trade.Chain) error {
	links, err := tables.Collect(ctx, tx, func(l *trade.Link) []any { return []any{&l.Step, &l.Stamp} }, `SELECT signed, stamp FROM steps WHERE of = $1 ORDER BY n`, id[:])
	c.Links = append(c.Links, links...)
	return err
}

// Step moves an order by a step that one of its parties signed, and sends. Repeating a step changes
// nothing. Only its signer may send a step: deliveries are shown to everybody, with reviews, and the
// answer has all steps of the order.
func (m *Market) Step(ctx context.Context, id trade.Hash, signed []byte, by trade.Key) (c trade.Chain, err error) {
	t, err := trade.ReadStep(signed)
	if err != nil {
		return c, err
	}
	if t.By != by {
		return c, fmt.Errorf("%s: %w: another party signed it", t.Act, trade.ErrParty)
	}
	if t.By == m.party.Key && t.Act != trade.Decide { // nobody sends such a step
		return c, fmt.Errorf("%s: %w", t.Act, trade.ErrParty)
	}
	err = m.c.DB.Change(ctx, func(tx *sql.Tx) error {
		var party int
		if err := one(tx.QueryRowContext(ctx, `SELECT 1 FROM orders WHERE id = $1 AND (buyer = $2 OR seller = $2 OR arbiter = $2)`, id[:], by[:]), &party); err != nil {
			return fmt.Errorf("order %s: %w", id, err)
		}
		var s *trade.State
		if c, s, err = m.state(ctx, tx, id); err != nil {
			return err
		}
		for _, l := range c.Links {
			if known, err := trade.ReadStep(l.Step); err == nil && known.Hash == t.Hash {
				return nil
			}
		}
		err = m.applyStep(ctx, tx, &c, s, &t, signed)
		return err
	})
	return c, err
}

// state reads an order and its current state.
func (m *Market) state(ctx context.Context, tx *sql.Tx, id trade.Hash) (c trade.Chain, s *trade.State, err error) {
	if c, err = m.chain(ctx, tx, id); err != nil {
		return c, nil, err
	}
	if s, err = c.Replay(); err != nil {
		return c, nil, fmt.Errorf("order %s in the database: %v", id, err)
	}
	return c, s, nil
}

// takeOwnStep signs and applies a step of the market.
func (m *Market) takeOwnStep(ctx context.Context, tx *sql.Tx, c *trade.Chain, s *trade.State, act trade.Act) error {
	b, _, err := trade.SignStep(trade.Step{Order: s.ID, Prev: s.Last, Act: act, At: m.c.Now().Unix()}, m.party)
	if err != nil {
		return err
	}
	t, err := trade.ReadStep(b)
	if err != nil {
		return err
	}
	return m.applyStep(ctx, tx, c, s, &t, b)
}

// applyStep applies a step, stamps it, books its money, and stores the result.
func (m *Market) applyStep(ctx context.Context, tx *sql.Tx, c *trade.Chain, s *trade.State, t *trade.ParsedStep, signed []byte) error {
	at := max(m.c.Now().Unix(), s.At) // if the clock was set back, the time stands still, so that nobody gets more time
	n, err := s.Apply(t, at)
	if err != nil {
		return err
	}
	stamp, err := trade.SignStamp(t.Hash, at, m.party)
	if err != nil {
		return err
	}
	if err := m.book(ctx, tx, s, n); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO steps (of, n, hash, signed, stamp) VALUES ($1, $2, $3, $4, $5)`, n.ID[:], n.Steps, t.Hash[:], signed, stamp); err != nil {
		return fmt.Errorf("keep step: %w", err)
	}
	if _, err := tx.ExecContext(ctx, `UPDATE orders SET phase = $1, deadline = $2, moved = $3 WHERE id = $4`, n.Phase, n.Deadline, at, n.ID[:]); err != nil {
		return fmt.Errorf("keep step: %w", err)
	}
	c.Links = append(c.Links, trade.Link{Step: signed, Stamp: stamp})
	if !n.Reviewable() {
		return nil
	}
	if n.Paid > 0 {
		if _, err := tx.ExecContext(ctx, `UPDATE listings SET sold = sold + 1 WHERE n = (SELECT listing FROM versions WHERE hash = $1)`, n.Offer.Hash[:]); err != nil {
			return fmt.Errorf("keep step: %w", err)
		}
	}
	return m.log(ctx, tx, translog.Receipt, n.ID.String(), signed, "")
}

// book moves the money between two states of an order. Each booking has its own key, so that none
// is made twice.
func (m *Market) book(ctx context.Context, tx *sql.Tx, s, n *trade.State) error {
	id := n.ID.String()
	money := func(minor uint64) ledger.Money {
		return ledger.Money{Minor: int64(minor), Currency: ledger.Currency(n.Order.Currency)}
	}
	if s.Phase == trade.Ordered && n.Phase == trade.Funded {
		err := m.ledger.Hold(ctx, tx, "hold "+id, id, n.Order.Buyer.String(), money(n.Held))
		if errors.Is(err, ledger.ErrFunds) {
			return fmt.Errorf("%w: the order costs %s", ErrFunds, trade.Price(n.Order.Price, n.Order.Currency))
		}
		return err
	}
	if n.Back > 0 {
		if err := m.ledger.Refund(ctx, tx, "refund "+id, id, money(n.Back)); err != nil {
			return err
		}
	}
	if n.Paid > 0 {
		fee := n.Paid * uint64(m.c.Fee) / 10000
		shares := []ledger.Share{{Seller: hex.EncodeToString(n.Offer.Seller[:]), Amount: money(n.Paid - fee)}}
		return m.ledger.Release(ctx, tx, "release "+id, id, shares, money(fee))
	}
	return nil
}

// Pay funds an order from its buyer's balance at the market. A voucher's worth is added first, in
// its own transaction: if the order can't be funded any more, or costs more, the money remains the
// buyer's. An order that is already funded is left unchanged.
func (m *Market) Pay(ctx context.Context, id trade.Hash, p trade.Payment, by trade.Key) (c trade.Chain, err error) {
	fund := func(tx *sql.Tx, pays bool) error {
		var s *trade.State
		if c, s, err = m.state(ctx, tx, id); err != nil {
			return err
		}
		if s.Order.Buyer != by {
			return fmt.Errorf("pay: %w", trade.ErrParty)
		}
		if s.Phase != trade.Ordered || !pays {
			return nil
		}
		return m.takeOwnStep(ctx, tx, &c, s, trade.Fund)
	}
	if p.Voucher != "" {
		if err := m.c.DB.Change(ctx, func(tx *sql.Tx) error { return fund(tx, false) }); err != nil {
			return c, err
		}
		proof := pay.Proof{Payer: by.String(), Body: []byte(p.Voucher)}
		if err := m.c.Vouchers.Settle(ctx, proof, pay.Deposits(m.ledger, m.c.Vouchers.Name())); err != nil {
			return c, err
		}
	}
	err = m.c.DB.Change(ctx, func(tx *sql.Tx) error { return fund(tx, true) })
	return c, err
}

// expire ends a phase whose time is over.
func (m *Market) expire(ctx context.Context, id trade.Hash) error {
	return m.c.DB.Change(ctx, func(tx *sql.Tx) error {
		c, s, err := m.state(ctx, tx, id)
		if err != nil || s.Deadline == 0 || s.Deadline > m.c.Now().Unix() {
			return err
		}
		return m.takeOwnStep(ctx, tx, &c, s, trade.Expire)
	})
}

// Get returns an order to one of its parties.
func (m *Market) Get(ctx context.Context, id trade.Hash, by trade.Key) (c trade.Chain, err error) {
	err = m.c.DB.Read(ctx, func(tx *sql.Tx) error {
		c, _, err = m.read(ctx, tx, id, by)
		return err
	})
	return c, err
}

// read is [Market.state] without changes.
func (m *Market) read(ctx context.Context, tx *sql.Tx, id trade.Hash, by trade.Key) (c trade.Chain, root trade.Hash, err error) {
	var r []byte
	err = one(tx.QueryRowContext(ctx, `SELECT v.signed, v.root, o.signed, o.stamp FROM orders o JOIN versions v ON v.hash = o.version
		WHERE o.id = $1 AND (o.buyer = $2 OR o.seller = $2 OR o.arbiter = $2 AND o.phase = 'disputed')`, id[:], by[:]), &c.Listing, &r, &c.Order, &c.Stamp)
	if err != nil {
		return c, root, fmt.Errorf("order %s: %w", id, err)
	}
	copy(root[:], r)
	return c, root, m.links(ctx, tx, id, &c)
}

// Role says whose orders are wanted.
type Role string

// The roles.
const (
	AsBuyer   Role = "buyer"
	AsSeller  Role = "seller"
	AsArbiter Role = "arbiter" // only those in dispute
)

// Orders returns the orders of a key, most recently changed first. phase may be empty. Orders that
// were never paid come after all others, because anybody can make them for free, and nobody reads
// on for ever.
func (m *Market) Orders(ctx context.Context, by trade.Key, as Role, phase trade.Phase, skip int) (out trade.Chains, err error) {
	if as != AsBuyer && as != AsSeller && as != AsArbiter {
		return out, fmt.Errorf("role: %w: %.20q: want buyer, seller or arbiter", trade.ErrForm, as)
	}
	if skip < 0 || skip > trade.MaxSkip {
		return out, fmt.Errorf("skip: %w: want 0 to %d", trade.ErrForm, trade.MaxSkip)
	}
	if as == AsArbiter {
		phase = trade.Disputed
	}
	err = m.c.DB.Read(ctx, func(tx *sql.Tx) error {
		ids, err := list[trade.Hash](ctx, tx, `SELECT id FROM orders WHERE `+string(as)+` = $1 AND ($2 = '' OR phase = $2) ORDER BY phase IN ('ordered', 'expired'), moved DESC, id LIMIT $3 OFFSET $4`,
			by[:], string(phase), trade.MaxOrders, skip)
		if err != nil {
			return err
		}
		for _, id := range ids {
			c, _, err := m.read(ctx, tx, id, by)
			if err != nil {
				return err
			}
			out.Orders = append(out.Orders, c)
		}
		return nil
	})
	return out, err
}

// Bundle returns the sealed items of a funded order, as they came in [trade.Publication]. That
// includes an order that moved here, while its bundle is offered here.
func (m *Market) Bundle(ctx context.Context, id trade.Hash, by trade.Key) (items []byte, err error) {
	err = m.c.DB.Read(ctx, func(tx *sql.Tx) error {
		c, root, err := m.read(ctx, tx, id, by)
		if errors.Is(err, ErrNotFound) {
			c, root, err = m.readMoved(ctx, tx, id, by)
		}
		if err != nil {
			return err
		}
		s, err := c.Replay()
		if err != nil {
			return err
		}
		if by != s.Order.Buyer && by != s.Offer.Seller {
			return fmt.Errorf("bundle: %w", trade.ErrParty)
		}
		switch {
		case s.Order.Question != nil:
			return fmt.Errorf("bundle: %w: an answer was ordered", trade.ErrParty)
		case !s.Phase.Paid():
			return fmt.Errorf("bundle: %w: it is not paid", trade.ErrPhase)
		}
		if err := one(tx.QueryRowContext(ctx, `SELECT items FROM bundles WHERE root = $1`, root[:]), &items); err != nil {
			return fmt.Errorf("bundle of order %s: %w", id, err)
		}
		return nil
	})
	return items, err
}

// Balance returns a key's balances, as a buyer and as a seller.
func (m *Market) Balance(ctx context.Context, by trade.Key) (out []trade.Balance, err error) {
	err = m.c.DB.Read(ctx, func(tx *sql.Tx) error {
		at := map[string]int{}
		for i, a := range []ledger.Account{ledger.Buyer(by.String()), ledger.Seller(by.String())} {
			all, err := m.ledger.Balances(ctx, tx, a)
			if err != nil {
				return err
			}
			for _, b := range all {
				code := string(b.Currency)
				if _, known := at[code]; !known {
					at[code] = len(out)
					out = append(out, trade.Balance{Currency: code})
				}
				if i == 0 {
					out[at[code]].Spend = b.Minor
				} else {
					out[at[code]].Earned = b.Minor
				}
			}
		}
		return nil
	})
	return out, err
}
