package market_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha512"
	"database/sql"
	"encoding/binary"
	"errors"
	"math/big"
	"slices"
	"testing"

	"github.com/locket-dev/locket/cloud/market"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/tradetest"
)

// resign signs again what a party has signed, with other bytes: an Ed25519 signature has a random
// part that its signer may choose (RFC 8032, 5.1.6), here the secret half of another key.
func resign(h *house, key ed25519.PrivateKey, domain string, signed []byte) []byte {
	h.Helper()
	var s struct {
		_    struct{} `cbor:",toarray"`
		Body []byte
		By   trade.Key
		Sig  []byte
	}
	h.ok(trade.Decode(signed, &s, trade.MaxStep))
	scalar := func(b []byte) *big.Int {
		b = bytes.Clone(b)
		slices.Reverse(b)
		return new(big.Int).SetBytes(b)
	}
	secret := func(key ed25519.PrivateKey) *big.Int {
		d := sha512.Sum512(key.Seed())
		d[0], d[31] = d[0]&248, d[31]&127|64
		return scalar(d[:32])
	}
	msg := binary.BigEndian.AppendUint32([]byte("locket/v1 sign\x00"), uint32(len(domain)))
	msg = append(append(msg, domain...), s.Body...)
	nonce := tradetest.PartyKey(99)
	r := nonce.Public().(ed25519.PublicKey)
	k := sha512.Sum512(slices.Concat(r, s.By[:], msg))
	order, _ := new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)
	sum := new(big.Int).Mul(scalar(k[:]), secret(key))
	sum.Mod(sum.Add(sum, secret(nonce)), order)
	half := sum.FillBytes(make([]byte, 32))
	slices.Reverse(half)
	s.Sig = slices.Concat(r, half)
	return trade.Encode(&s)
}

// A seller who signs the delivery again, with other bytes, and brings the order only so far, does
// not keep its buyer from bringing the rest, with a bad review.
func TestThreatReviewKeptOutByASecondSignature(t *testing.T) {
	each(t, func(h *house) {
		here, items := h.list(nil)
		was, deal, review := elsewhere(h, items)
		h.ok(h.move(tradetest.Seller, was, ofListing(was, here)))
		early := deal.Until(2)
		early.Chain.Links = slices.Clone(early.Chain.Links)
		early.Chain.Links[1].Step = resign(h, tradetest.PartyKey(2), "locket/v1 market step", early.Chain.Links[1].Step)
		h.ok(h.move(tradetest.Seller, was, ofOrder(early, nil)))
		h.ok(h.move(tradetest.Buyer, was, ofOrder(deal, review)))
		v, err := h.Show(h.Context(), here.ID())
		h.ok(err)
		if v.Origins[0].Sold != 1 || v.Origins[0].Reviews != 1 {
			h.Errorf("%+v", v.Origins[0])
		}
	})
}

// A listing that sells answers brings no bundle, so it can name anybody's. It gives nobody another
// seller's bundle, and does not keep it at the market.
func TestThreatAnswersOfAnothersBundle(t *testing.T) {
	each(t, func(h *house) {
		victim, _ := h.list(nil)
		thief, made, friend := tradetest.Party(66), tradetest.Party(77), tradetest.Party(67)
		copies := victim.Listing
		copies.Market = made.Key
		was, err := trade.SignListing(copies, thief)
		h.ok(err)
		answers := victim.Listing
		tradetest.Answers(h)(&answers)
		here, err := trade.SignListing(answers, thief)
		h.ok(err)
		_, err = h.Publish(h.Context(), &trade.Publication{Listing: here.Signed}, thief.Key)
		h.ok(err)
		h.is(h.move(thief, was, ofListing(was, here)), trade.ErrRoot) // with the reviews of copies
		first := answers
		first.Market = made.Key
		before, err := trade.SignListing(first, thief)
		h.ok(err)
		h.ok(h.move(thief, before, ofListing(before, here)))
		copies.Number, copies.First, copies.Prev = 2, before.Hash, before.Hash
		second, err := trade.SignListing(copies, thief)
		h.ok(err)
		d := tradetest.NewDealAt(h, second, made, friend, [16]byte{1}, seal.NewIdentity().Recipient().String(), 1_800_000_000)
		d.Step(trade.Fund, made, nil)
		h.ok(h.move(thief, second, ofOrder(d, nil)))
		if b, err := h.Bundle(h.Context(), d.State.ID, friend.Key); !errors.Is(err, market.ErrNotFound) {
			t.Errorf("%d bytes of another's bundle, %v", len(b), err)
		}

		b, _, err := trade.SignNotice(trade.Withdrawal, trade.Notice{Listing: victim.ID(), At: 1}, tradetest.Seller)
		h.ok(err)
		h.ok(h.Withdraw(h.Context(), b))
		h.ok(h.Sweep(h.Context()))
		var bundles int
		h.ok(h.db.Read(h.Context(), func(tx *sql.Tx) error {
			return tx.QueryRowContext(h.Context(), `SELECT count(*) FROM bundles`).Scan(&bundles)
		}))
		if bundles != 0 {
			t.Error("the bundle of a withdrawn listing is kept because another seller names it")
		}
	})
}
