// Package x402test has an agent's wallet and a facilitator of x402 for tests, with real signatures
// (EIP-712 over secp256k1).
package x402test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
	"golang.org/x/crypto/sha3"
)

// The network and its token: USDC on Base Sepolia.
const (
	Network = "eip155:84532"
	Asset   = "0x036CbD53842c5426634e7929541eC2318f3dCF7e"
	Token   = "USDC"
	Version = "2"
	PayTo   = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C"
)

func keccak(parts ...[]byte) []byte {
	h := sha3.NewLegacyKeccak256()
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}

// word encodes a value for the ABI, in 32 bytes. It accepts hexadecimal with 0x, and decimal.
func word(s string) ([]byte, error) {
	n, ok := new(big.Int).SetString(s, 0)
	if !ok || n.Sign() < 0 || n.BitLen() > 256 {
		return nil, fmt.Errorf("%q is not a number of 256 bits", s)
	}
	return n.FillBytes(make([]byte, 32)), nil
}

// Authorization is the authorization of EIP-3009.
type Authorization struct {
	From        string `json:"from"`
	To          string `json:"to"`
	Value       string `json:"value"`
	ValidAfter  string `json:"validAfter"`
	ValidBefore string `json:"validBefore"`
	Nonce       string `json:"nonce"`
}

// digest returns what a wallet signs (EIP-712).
func digest(a Authorization, network, asset, token, version string) ([]byte, error) {
	domain := keccak([]byte("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"))
	kind := keccak([]byte("TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"))
	words := func(first []byte, more ...string) ([]byte, error) {
		all := first
		for _, m := range more {
			w, err := word(m)
			if err != nil {
				return nil, err
			}
			all = append(all, w...)
		}
		return keccak(all), nil
	}
	d, err := words(append(append(domain, keccak([]byte(token))...), keccak([]byte(version))...), strings.TrimPrefix(network, "eip155:"), asset)
	if err != nil {
		return nil, err
	}
	m, err := words(kind, a.From, a.To, a.Value, a.ValidAfter, a.ValidBefore, a.Nonce)
	if err != nil {
		return nil, err
	}
	return keccak([]byte{0x19, 1}, d, m), nil
}

// signer returns the address that signed; empty if there is none.
func signer(sum []byte, signature string) string {
	raw, err := hex.DecodeString(strings.TrimPrefix(signature, "0x"))
	if err != nil || len(raw) != 65 {
		return ""
	}
	key, _, err := ecdsa.RecoverCompact(append([]byte{raw[64]}, raw[:64]...), sum)
	if err != nil {
		return ""
	}
	return addressOf(key)
}

func addressOf(k *secp256k1.PublicKey) string {
	return "0x" + hex.EncodeToString(keccak(k.SerializeUncompressed()[1:])[12:])
}

// Wallet is an agent's wallet.
type Wallet struct {
	key     *secp256k1.PrivateKey
	Address string
	n       int
}

// NewWallet makes the wallet for a name.
func NewWallet(name string) *Wallet {
	sum := sha256.Sum256([]byte(name))
	k := secp256k1.PrivKeyFromBytes(sum[:])
	return &Wallet{key: k, Address: addressOf(k.PubKey())}
}

// Secret is the wallet's private key, as npm's viem takes it.
func (w *Wallet) Secret() string { return "0x" + hex.EncodeToString(w.key.Serialize()) }

// Sign signs an authorization.
func (w *Wallet) Sign(tb testing.TB, a Authorization, network, asset, token, version string) string {
	tb.Helper()
	sum, err := digest(a, network, asset, token, version)
	if err != nil {
		tb.Fatal(err)
	}
	s := ecdsa.SignCompact(w.key, sum, false)
	return "0x" + hex.EncodeToString(append(s[1:], s[0]))
}

// Required is the content of a 402 answer's header.
type Required struct {
	X402Version int               `json:"x402Version"`
	Error       string            `json:"error"`
	Resource    json.RawMessage   `json:"resource"`
	Accepts     []json.RawMessage `json:"accepts"`
}

// Read reads the header of an answer 402.
func Read(tb testing.TB, h http.Header) (r Required) {
	tb.Helper()
	raw, err := base64.StdEncoding.DecodeString(h.Get("Payment-Required"))
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	if err != nil || r.X402Version != 2 || len(r.Accepts) != 1 {
		tb.Fatalf("no answer 402 of x402: %q, %v", raw, err)
	}
	return r
}

// Pay makes the header of a request that pays what an answer 402 demands. change alters the
// authorization before it is signed; it may be nil.
func (w *Wallet) Pay(tb testing.TB, required http.Header, change func(*Authorization)) http.Header {
	tb.Helper()
	r := Read(tb, required)
	var want struct {
		Network, Asset, Amount, PayTo string
		MaxTimeoutSeconds             int64
		Extra                         struct{ Name, Version string }
	}
	if err := json.Unmarshal(r.Accepts[0], &want); err != nil {
		tb.Fatal(err)
	}
	w.n++
	nonce := sha256.Sum256([]byte(w.Address + strconv.Itoa(w.n)))
	a := Authorization{From: w.Address, To: want.PayTo, Value: want.Amount, ValidAfter: "0",
		ValidBefore: strconv.FormatInt(time.Now().Unix()+want.MaxTimeoutSeconds, 10), Nonce: "0x" + hex.EncodeToString(nonce[:])}
	if change != nil {
		change(&a)
	}
	return Header(tb, map[string]any{"x402Version": 2, "resource": r.Resource, "accepted": r.Accepts[0],
		"payload": map[string]any{"authorization": a, "signature": w.Sign(tb, a, want.Network, want.Asset, want.Extra.Name, want.Extra.Version)}})
}

// Header makes a request's header with a payment.
func Header(tb testing.TB, payment any) http.Header {
	tb.Helper()
	b, err := json.Marshal(payment)
	if err != nil {
		tb.Fatal(err)
	}
	return http.Header{"Payment-Signature": {base64.StdEncoding.EncodeToString(b)}}
}

// Change alters the payment in a header.
func Change(tb testing.TB, h http.Header, change func(map[string]any)) http.Header {
	tb.Helper()
	raw, err := base64.StdEncoding.DecodeString(h.Get("Payment-Signature"))
	var v map[string]any
	if err == nil {
		err = json.Unmarshal(raw, &v)
	}
	if err != nil {
		tb.Fatal(err)
	}
	change(v)
	return Header(tb, v)
}
