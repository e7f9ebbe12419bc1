// Package voucher implements codes that an operator issues and sells by any means, and that are
// worth an amount in the market.
//
// A code is 20 characters of Crockford's base32 in groups of five, "7K3QF-0M9ZT-…": 100 bits,
// derived from the operator's secret, the batch and a number by HMAC-SHA-256. So a batch that is
// issued again has the same codes, and codes need not be stored: the tables only have their
// SHA-256. Each code can be used once, until a day, and can be revoked before.
package voucher

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/cloud/market/pay"
	"github.com/locket-dev/locket/cloud/market/tables"
)

// Name is the provider's account in the ledger.
const Name = "voucher"

// After that many wrong codes, a payer has to wait until that long after the first. Nobody guesses
// a code of 100 bits anyway; the limit keeps guesses from using up the database.
const (
	maxWrong = 10
	window   = time.Hour
)

// MaxBatch is the greatest number of codes in a batch.
const MaxBatch = 10_000

// payoutLife is how long a payout's code is valid.
const payoutLife = 10 * 365 * 24 * time.Hour

// ErrBatch: the batch was issued with other arguments.
var ErrBatch = errors.New("a batch of this name has other vouchers")

// Provider implements [pay.Provider].
type Provider struct {
	db     *tables.DB
	secret []byte
	now    func() time.Time
}

var _ pay.Provider = (*Provider)(nil)

// New makes the vouchers of a market. The secret has 32 bytes and belongs to the operator; whoever
// has it can spend every code that was issued. now may be nil: this machine's clock.
func New(db *tables.DB, secret []byte, now func() time.Time) (*Provider, error) {
	if len(secret) != 32 {
		return nil, fmt.Errorf("vouchers: the secret has %d bytes, want 32", len(secret))
	}
	if now == nil {
		now = time.Now
	}
	return &Provider{db, secret, now}, nil
}

func (p *Provider) Name() string { return Name }

// Issue makes count vouchers of an amount each and returns their codes, in order. The same
// arguments return the same codes again, including used ones.
func (p *Provider) Issue(ctx context.Context, batch string, count int, each ledger.Money, until time.Time) ([]string, error) {
	if batch == "" || len(batch) > 100 || strings.HasPrefix(batch, payoutBatch) || strings.ContainsFunc(batch, func(r rune) bool { return r < ' ' || r == '\uFFFD' }) {
		return nil, fmt.Errorf("issue vouchers: %q: want a name of 1 to 100 printable characters", batch)
	}
	if _, err := each.Currency.Digits(); err != nil {
		return nil, fmt.Errorf("issue vouchers: %w", err)
	}
	if count < 1 || count > MaxBatch || each.Minor < 1 || each.Minor > ledger.MaxAmount {
		return nil, fmt.Errorf("issue vouchers: %d of %s: want 1 to %d of at least one minor unit", count, each, MaxBatch)
	}
	if !until.After(p.now()) {
		return nil, fmt.Errorf("issue vouchers: they would end at %s, which is over", until.Format(time.DateOnly))
	}
	return p.issue(ctx, batch, count, each, until)
}

func (p *Provider) issue(ctx context.Context, batch string, count int, each ledger.Money, until time.Time) ([]string, error) {
	codes := make([]string, count)
	err := p.db.Change(ctx, func(tx *sql.Tx) error {
		var have, alike int
		if err := tx.QueryRowContext(ctx, `SELECT count(*), count(CASE WHEN minor = $2 AND currency = $3 AND until = $4 THEN 1 END) FROM vouchers WHERE batch = $1`,
			batch, each.Minor, each.Currency, until.UnixMilli()).Scan(&have, &alike); err != nil {
			return err
		}
		if have > 0 && (have != count || alike != count) {
			return fmt.Errorf("%w: %s", ErrBatch, batch)
		}
		for i := range codes {
			raw := p.code(batch, i)
			codes[i] = write(raw)
			hash := sha256.Sum256(raw)
			if have > 0 {
				continue
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO vouchers (hash, batch, n, minor, currency, until) VALUES ($1, $2, $3, $4, $5, $6)`,
				hash[:], batch, i, each.Minor, each.Currency, until.UnixMilli()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("issue vouchers: %w", err)
	}
	return codes, nil
}

func (p *Provider) Begin(_ context.Context, r pay.Request) (pay.Step, error) {
	return pay.Step{Say: fmt.Sprintf("Redeem vouchers of %s or more. The operator of this market sells them.", r.Money)}, nil
}

// Settle implements [pay.Provider]: the body is a code, with or without its dashes. The payer who
// redeemed it may present it again, which changes nothing.
func (p *Provider) Settle(ctx context.Context, proof pay.Proof, book pay.Book) error {
	if proof.Payer == "" {
		return fmt.Errorf("redeem voucher: %w: it names no payer", pay.ErrProof)
	}
	var refused error // the try is counted, so it must not be undone
	err := p.db.Change(ctx, func(tx *sql.Tx) error {
		left, err := p.tries(ctx, tx, proof.Payer)
		if err != nil || left <= 0 {
			return errors.Join(err, pay.ErrTries)
		}
		f, err := p.use(ctx, tx, string(proof.Body), proof.Payer)
		if errors.Is(err, pay.ErrProof) || errors.Is(err, pay.ErrUsed) {
			refused = err
			_, err := tx.ExecContext(ctx, `UPDATE voucher_tries SET wrong = wrong + 1 WHERE payer = $1`, proof.Payer)
			return err
		}
		if err != nil {
			return err
		}
		return book(ctx, tx, f)
	})
	if err := errors.Join(refused, err); err != nil {
		return fmt.Errorf("redeem voucher: %w", err)
	}
	return nil
}

// Clean deletes wrong tries that no longer count.
func (p *Provider) Clean(ctx context.Context) error {
	err := p.db.Change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM voucher_tries WHERE since <= $1`, p.now().Add(-window).UnixMilli())
		return err
	})
	if err != nil {
		return fmt.Errorf("delete tries of vouchers: %w", err)
	}
	return nil
}

// tries returns how often a payer may still be wrong. The payer's row is locked.
func (p *Provider) tries(ctx context.Context, tx *sql.Tx, payer string) (int, error) {
	now := p.now()
	if _, err := tx.ExecContext(ctx, `INSERT INTO voucher_tries (payer, since, wrong) VALUES ($1, $2, 0) ON CONFLICT (payer) DO UPDATE SET
		since = CASE WHEN voucher_tries.since <= $3 THEN $2 ELSE voucher_tries.since END,
		wrong = CASE WHEN voucher_tries.since <= $3 THEN 0 ELSE voucher_tries.wrong END`,
		payer, now.UnixMilli(), now.Add(-window).UnixMilli()); err != nil {
		return 0, err
	}
	var wrong int
	err := tx.QueryRowContext(ctx, `SELECT wrong FROM voucher_tries WHERE payer = $1`+p.db.Dialect.Lock(), payer).Scan(&wrong)
	return maxWrong - wrong, err
}

// use marks a code as used by a payer, and returns its worth.
func (p *Provider) use(ctx context.Context, tx *sql.Tx, code, payer string) (pay.Fact, error) {
	raw, err := read(code)
	if err != nil {
		return pay.Fact{}, err
	}
	hash := sha256.Sum256(raw)
	var batch string
	var n, revoked int
	var until int64
	var by *string
	f := pay.Fact{Kind: pay.Paid, Payer: payer}
	err = tx.QueryRowContext(ctx, `SELECT batch, n, minor, currency, until, revoked, used_by FROM vouchers WHERE hash = $1`+p.db.Dialect.Lock(), hash[:]).
		Scan(&batch, &n, &f.Money.Minor, &f.Money.Currency, &until, &revoked, &by)
	f.Key = fmt.Sprintf("%s/%d", batch, n)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return pay.Fact{}, fmt.Errorf("%w: no voucher has this code", pay.ErrProof)
	case err != nil:
		return pay.Fact{}, err
	case by != nil && *by == payer:
		return f, nil
	case by != nil:
		return pay.Fact{}, fmt.Errorf("%w: the voucher was redeemed", pay.ErrUsed)
	case revoked != 0:
		return pay.Fact{}, fmt.Errorf("%w: the voucher was revoked by the operator", pay.ErrProof)
	case until <= p.now().UnixMilli():
		return pay.Fact{}, fmt.Errorf("%w: the voucher ended on %s", pay.ErrProof, time.UnixMilli(until).UTC().Format(time.DateOnly))
	}
	_, err = tx.ExecContext(ctx, `UPDATE vouchers SET used_by = $2, used_at = $3 WHERE hash = $1`, hash[:], payer, p.now().UnixMilli())
	return f, err
}

// payoutBatch is the prefix of the batch of a payout's voucher.
const payoutBatch = "payout "

// Payout implements [pay.Provider]: it issues a voucher of that amount to the payee, and returns
// its code.
func (p *Provider) Payout(ctx context.Context, key, _ string, m ledger.Money) (string, error) {
	batch, until := payoutBatch+key, p.now().Add(payoutLife)
	// A repeated payout finds the first one's last day.
	err := p.db.Read(ctx, func(tx *sql.Tx) error {
		var ms int64
		err := tx.QueryRowContext(ctx, `SELECT until FROM vouchers WHERE batch = $1`, batch).Scan(&ms)
		if err == nil {
			until = time.UnixMilli(ms)
		} else if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("pay out by voucher: %w", err)
	}
	codes, err := p.issue(ctx, batch, 1, m, until)
	if err != nil {
		return "", fmt.Errorf("pay out by voucher: %w", err)
	}
	return codes[0], nil
}

// codeBytes is the size of a code before encoding: 100 bits, and 4 zero bits.
const codeBytes = 13

var alphabet = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// code derives the bytes of voucher n of a batch.
func (p *Provider) code(batch string, n int) []byte {
	h := hmac.New(sha256.New, p.secret)
	h.Write([]byte("locket voucher v1\x00" + batch + "\x00"))
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(n)))
	raw := h.Sum(nil)[:codeBytes]
	raw[codeBytes-1] &= 0xf0 // bits 100 to 103
	return raw
}

func write(raw []byte) string {
	s := alphabet.EncodeToString(raw)[:20]
	return s[:5] + "-" + s[5:10] + "-" + s[10:15] + "-" + s[15:]
}

// read accepts a code as people write it: in either case, with O for 0 and I or L for 1.
func read(code string) ([]byte, error) {
	if len(code) > 100 {
		return nil, fmt.Errorf("%w: a code has 20 characters, this one %d bytes", pay.ErrProof, len(code))
	}
	s := strings.NewReplacer("-", "", " ", "", "\n", "", "\r", "", "O", "0", "I", "1", "L", "1").Replace(strings.ToUpper(code))
	raw, err := alphabet.DecodeString(s + "0")
	if err != nil || len(s) != 20 {
		return nil, fmt.Errorf("%w: a code has 20 letters and digits without U", pay.ErrProof)
	}
	return raw, nil
}
