package voucher

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/cloud/market/pay"
	"github.com/locket-dev/locket/cloud/market/pay/paytest"
	"github.com/locket-dev/locket/cloud/market/tables"
	"github.com/locket-dev/locket/cloud/market/tabletest"
)

var databases tabletest.Databases

func TestMain(m *testing.M) { os.Exit(databases.Main(m)) }

var (
	secret = bytes.Repeat([]byte{7}, 32)
	eur10  = ledger.Money{Minor: 1000, Currency: "EUR"}
	later  = time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)
)

func open(tb testing.TB, db *tables.DB, now func() time.Time) *Provider {
	tb.Helper()
	p, err := New(db, secret, now)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func TestProvider(t *testing.T) {
	paytest.Run(t, databases.Each, func(tb testing.TB, db *tables.DB) paytest.Side {
		p, batch := open(tb, db, nil), 0
		return paytest.Side{
			Provider: p,
			Reopen:   func(tb testing.TB) pay.Provider { return open(tb, db, nil) },
			Pay: func(tb testing.TB, payer string, m ledger.Money) pay.Proof {
				batch++
				codes, err := p.Issue(tb.Context(), fmt.Sprint("batch ", batch), 1, m, later)
				if err != nil {
					tb.Fatal(err)
				}
				return pay.Proof{Payer: payer, Body: []byte(codes[0])}
			},
			Forge: func(_ testing.TB, real pay.Proof) map[string]pay.Proof {
				last := []byte("0123456789"[real.Body[22]%7:][:1]) // any character
				if last[0] == real.Body[22] {
					last[0]++
				}
				return map[string]pay.Proof{
					"nobody's":      {Body: real.Body},
					"empty":         {Payer: "ada"},
					"too short":     {Payer: "ada", Body: real.Body[:22]},
					"too long":      {Payer: "ada", Body: append(bytes.Clone(real.Body), '0')},
					"much too long": {Payer: "ada", Body: bytes.Repeat([]byte("0"), 1<<20)},
					"no letter":     {Payer: "ada", Body: append(bytes.Clone(real.Body[:22]), 'U')},
					"no text":       {Payer: "ada", Body: append(bytes.Clone(real.Body[:22]), 0xff)},
					"another":       {Payer: "ada", Body: append(bytes.Clone(real.Body[:22]), last...)},
				}
			},
			PaidOut: func(tb testing.TB, _, said string) (m ledger.Money) {
				if err := p.Settle(tb.Context(), pay.Proof{Payer: "the shop", Body: []byte(said)}, func(_ context.Context, _ *sql.Tx, f pay.Fact) error {
					m = f.Money
					return nil
				}); err != nil {
					tb.Fatal(err)
				}
				return m
			},
		}
	})
}

func none(context.Context, *sql.Tx, pay.Fact) error { return nil }

func redeem(t *testing.T, p *Provider, who, code string) error {
	t.Helper()
	return p.Settle(t.Context(), pay.Proof{Payer: who, Body: []byte(code)}, none)
}

func TestLifeOfABatch(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *tables.DB) {
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		p := open(t, db, func() time.Time { return now })
		end := now.AddDate(0, 1, 0)
		codes, err := p.Issue(t.Context(), "spring", 5, eur10, end)
		if err != nil {
			t.Fatal(err)
		}
		again, err := p.Issue(t.Context(), "spring", 5, eur10, end)
		if err != nil || strings.Join(again, " ") != strings.Join(codes, " ") {
			t.Fatalf("issued again: %v, %v, want %v", again, err, codes)
		}
		for _, other := range []struct {
			count int
			each  ledger.Money
			until time.Time
		}{{6, eur10, end}, {5, ledger.Money{Minor: 1000, Currency: "USD"}, end}, {5, eur10, end.Add(time.Hour)}} {
			if _, err := p.Issue(t.Context(), "spring", other.count, other.each, other.until); !errors.Is(err, ErrBatch) {
				t.Errorf("issued as %v: %v", other, err)
			}
		}
		if err := redeem(t, p, "ada", strings.ToLower(strings.ReplaceAll(codes[0], "-", " "))+"\n"); err != nil {
			t.Error(err)
		}
		if err := redeem(t, p, "bob", codes[0]); !errors.Is(err, pay.ErrUsed) {
			t.Errorf("redeemed by another: %v", err)
		}
		paid, err := p.Payout(t.Context(), "1", "", eur10)
		if err != nil {
			t.Fatal(err)
		}
		want := []Batch{{"", 1, 0, 0, 0, eur10, now.Add(payoutLife)}, {"spring", 5, 1, 0, 0, ledger.Money{Minor: 4000, Currency: "EUR"}, end}}
		if all, err := p.Batches(t.Context()); err != nil || !slices.Equal(all, want) {
			t.Errorf("batches %v, %v, want %v", all, err, want)
		}
		now = end
		if err := redeem(t, p, "bob", codes[1]); !errors.Is(err, pay.ErrProof) || !strings.Contains(err.Error(), "ended on 2026-02-01") {
			t.Errorf("lapsed: %v", err)
		}
		if err := redeem(t, p, "ada", codes[0]); err != nil {
			t.Errorf("who redeemed it in time: %v", err)
		}
		now = end.AddDate(0, 0, -1)
		if n, err := p.Revoke(t.Context(), "spring"); n != 4 || err != nil {
			t.Errorf("revoked %d, %v", n, err)
		}
		if err := redeem(t, p, "bob", codes[1]); !errors.Is(err, pay.ErrProof) || !strings.Contains(err.Error(), "revoked") {
			t.Errorf("revoked: %v", err)
		}
		for _, other := range []string{"sprnig", "", "payout 1"} {
			if _, err := p.Revoke(t.Context(), other); !errors.Is(err, ErrNoBatch) {
				t.Errorf("revoked %q: %v", other, err)
			}
		}
		if err := redeem(t, p, "bob", paid); err != nil {
			t.Errorf("what bob was paid with: %v", err)
		}
	})
}

func TestIssueRefuses(t *testing.T) {
	p := open(t, tabletest.SQLite(t), nil)
	for name, c := range map[string]struct {
		batch string
		count int
		each  ledger.Money
		until time.Time
	}{
		"no name":           {"", 1, eur10, later},
		"a payout's name":   {"payout 1", 1, eur10, later},
		"none":              {"b", 0, eur10, later},
		"too many":          {"b", MaxBatch + 1, eur10, later},
		"worth nothing":     {"b", 1, ledger.Money{Currency: "EUR"}, later},
		"no such currency":  {"b", 1, ledger.Money{Minor: 1, Currency: "??"}, later},
		"a day that passed": {"b", 1, eur10, time.Unix(1, 0)},
	} {
		if codes, err := p.Issue(t.Context(), c.batch, c.count, c.each, c.until); err == nil {
			t.Errorf("%s: %v", name, codes)
		}
	}
	if _, err := New(nil, secret[:31], nil); err == nil {
		t.Error("a short secret was taken")
	}
}

// Somebody who guesses is stopped after ten codes, for an hour, and nobody else is. The content of
// the database redeems nothing.
func TestThreatVouchersGuessed(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *tables.DB) {
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		p := open(t, db, func() time.Time { return now })
		codes, err := p.Issue(t.Context(), "b", 3, eur10, later)
		if err != nil {
			t.Fatal(err)
		}
		for i := range maxWrong {
			if err := redeem(t, p, "eve", write(p.code("guess", i))); !errors.Is(err, pay.ErrProof) {
				t.Fatal(err)
			}
		}
		if err := redeem(t, p, "eve", codes[0]); !errors.Is(err, pay.ErrTries) {
			t.Errorf("after %d wrong codes: %v", maxWrong, err)
		}
		if err := redeem(t, p, "ada", codes[1]); err != nil {
			t.Errorf("another: %v", err)
		}
		now = now.Add(window)
		if err := redeem(t, p, "eve", codes[0]); err != nil {
			t.Errorf("an hour later: %v", err)
		}
		var hash []byte
		if err := db.Read(t.Context(), func(tx *sql.Tx) error {
			return tx.QueryRow(`SELECT hash FROM vouchers WHERE used_at IS NULL`).Scan(&hash)
		}); err != nil {
			t.Fatal(err)
		}
		if err := redeem(t, p, "bob", write(hash[:codeBytes])); !errors.Is(err, pay.ErrProof) {
			t.Errorf("a hash as a code: %v", err)
		}
		other, err := New(db, bytes.Repeat([]byte{8}, 32), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := redeem(t, p, "bob", write(other.code("b", 2))); !errors.Is(err, pay.ErrProof) {
			t.Errorf("derived from another secret: %v", err)
		}
	})
}
