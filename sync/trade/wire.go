package trade

// What a market answers, and is asked, beside the signed objects. Everything is
// canonical CBOR. A client checks each signed object in an answer; a count or an
// order of hits is the market's word alone.

// MaxAnswer is how long an answer may be, in bytes.
const MaxAnswer = 4 << 20

// Limits of one answer.
const (
	MaxHits   = 50
	MaxSkip   = 1000
	MaxFacets = 20
	MaxShown  = 50 // reviews of one listing
	MaxOrders = 16
)

// Terms are a market's.
type Terms struct {
	Market  Key      `cbor:"1,keyasint" json:"market"`
	Arbiter string   `cbor:"2,keyasint" json:"arbiter"` // key and recipient, as locket share key prints them
	Fee     uint32   `cbor:"3,keyasint" json:"fee"`     // of what sellers earn, in hundredths of a percent
	Pays    []string `cbor:"4,keyasint" json:"pays"`    // ways to pay
	// Log is the name of the transparency log, which is signed with Market; empty
	// without one. Witnesses cosign it: each is the URL of a relay, a space, and the
	// witness's key as C2SP writes it.
	Log       string   `cbor:"5,keyasint" json:"log"`
	Witnesses []string `cbor:"6,keyasint" json:"witnesses"`
}

// Hit is a listing as a search finds it.
type Hit struct {
	Listing []byte `cbor:"1,keyasint"` // signed
	Sold    uint32 `cbor:"2,keyasint"` // orders that ended with a key
	Reviews uint32 `cbor:"3,keyasint"`
	Stars   uint32 `cbor:"4,keyasint"` // the sum of all
}

// Facet is how many of the hits have a value.
type Facet struct {
	Kind  string `cbor:"1,keyasint" json:"kind"` // category, language or currency
	Value string `cbor:"2,keyasint" json:"value"`
	Count uint32 `cbor:"3,keyasint" json:"count"`
}

// Found is what a search gives.
type Found struct {
	Hits   []Hit   `cbor:"1,keyasint"`
	Facets []Facet `cbor:"2,keyasint"` // of all that fits, not of these hits alone
	Total  uint32  `cbor:"3,keyasint"`
}

// Shown is one listing. Where it has ended, Notice is the signed withdrawal or
// takedown.
type Shown struct {
	Hit      Hit      `cbor:"1,keyasint"`
	State    string   `cbor:"2,keyasint"` // live, withdrawn or removed
	Notice   []byte   `cbor:"3,keyasint"`
	Reviews  [][]byte `cbor:"4,keyasint"`           // signed, the newest first; empty: it was deleted
	Versions []Hash   `cbor:"5,keyasint"`           // all, the oldest first
	Origins  []Origin `cbor:"6,keyasint,omitempty"` // where it was before
	Proofs   []Proof  `cbor:"7,keyasint,omitempty"` // of Reviews, in their order
	Ordered  [][]byte `cbor:"8,keyasint,omitempty"` // signed: earlier versions that orders of Proofs name
	Log      []byte   `cbor:"9,keyasint,omitempty"` // the signed checkpoint to which all proofs lead
}

// States of a listing.
const (
	Live      = "live"
	Withdrawn = "withdrawn"
	Removed   = "removed"
)

// Publication is a listing with its sealed items.
type Publication struct {
	_       struct{} `cbor:",toarray"`
	Listing []byte
	Items   [][]byte
}

// Payment pays an order.
type Payment struct {
	Voucher string `cbor:"1,keyasint"` // empty: from what the buyer has at the market
}

// Checkout is where an order is paid by card.
type Checkout struct {
	URL string `cbor:"1,keyasint" json:"url"` // of a page of the payment provider
}

// Chains are orders, the last moved first.
type Chains struct {
	Orders []Chain `cbor:"1,keyasint"`
}

// Balance is what a key has at a market.
type Balance struct {
	Currency string `cbor:"1,keyasint" json:"currency"`
	Spend    int64  `cbor:"2,keyasint" json:"spend"`  // minor units, as a buyer
	Earned   int64  `cbor:"3,keyasint" json:"earned"` // minor units, as a seller
}

// Payout takes money out of a market.
type Payout struct {
	Key      Hash   `cbor:"1,keyasint"` // random; the same again is the same payout
	Minor    uint64 `cbor:"2,keyasint"`
	Currency string `cbor:"3,keyasint"`
	Spend    bool   `cbor:"4,keyasint"`           // of what is left as a buyer; else of what was earned
	To       string `cbor:"5,keyasint,omitempty"` // an address, where the market is paid by x402; empty: by a voucher
}

// Issue makes vouchers, by the market's key.
type Issue struct {
	Batch    string `cbor:"1,keyasint"`
	Count    uint32 `cbor:"2,keyasint"`
	Minor    uint64 `cbor:"3,keyasint"`
	Currency string `cbor:"4,keyasint"`
	Until    int64  `cbor:"5,keyasint"` // Unix seconds
}

// Batch is what became of vouchers that were issued together.
type Batch struct {
	Name     string `cbor:"1,keyasint" json:"name"` // empty: all that sellers and buyers were paid out
	Issued   int    `cbor:"2,keyasint" json:"issued"`
	Used     int    `cbor:"3,keyasint" json:"used"`
	Revoked  int    `cbor:"4,keyasint" json:"revoked"`
	Lapsed   int    `cbor:"5,keyasint" json:"lapsed"`
	Open     int64  `cbor:"6,keyasint" json:"open"` // minor units that can still be redeemed
	Currency string `cbor:"7,keyasint" json:"currency"`
	Until    int64  `cbor:"8,keyasint" json:"until"` // Unix seconds
}

// Revocation ends the vouchers of a batch that nobody has used, by the market's key.
type Revocation struct {
	Batch string `cbor:"1,keyasint"`
}

// Revoked is how many vouchers that ended.
type Revoked struct {
	Count int64 `cbor:"1,keyasint" json:"revoked"`
}

// Codes are vouchers.
type Codes struct {
	Codes []string `cbor:"1,keyasint" json:"codes"`
}

// Open is what waits for the operator of a market that agents pay by x402: a payout to an
// address, or a payment of which nobody can say whether it was settled.
type Open struct {
	ID          Hash   `cbor:"1,keyasint" json:"id"`
	Payout      bool   `cbor:"2,keyasint" json:"payout"`
	Order       string `cbor:"3,keyasint" json:"order,omitempty"` // of a payment
	Address     string `cbor:"4,keyasint" json:"address"`         // who is to be paid, or who paid
	Minor       int64  `cbor:"5,keyasint" json:"minor"`
	Currency    string `cbor:"6,keyasint" json:"currency"`
	Amount      string `cbor:"7,keyasint" json:"amount,omitempty"` // of a payout, in units of the token
	Transaction string `cbor:"8,keyasint" json:"transaction,omitempty"`
	Reason      string `cbor:"9,keyasint" json:"reason,omitempty"`
	At          int64  `cbor:"10,keyasint" json:"at"`                // seconds: when a payout was asked for, or a payment is over
	By          string `cbor:"11,keyasint" json:"by"`                // key that asked for a payout, or whose order is paid
	Network     string `cbor:"12,keyasint" json:"network,omitempty"` // of a payout
	Asset       string `cbor:"13,keyasint" json:"asset,omitempty"`   // of a payout: the token's address
}

// Closed is what the operator says of it.
type Closed struct {
	ID          Hash   `cbor:"1,keyasint"`
	Transaction string `cbor:"2,keyasint"` // that paid or settled it; empty: a payment was never settled
	// Together: the transaction paid other payouts, too. Without it one that closed
	// something else is refused as a mistake.
	Together bool `cbor:"3,keyasint,omitempty"`
}

// Complaint is a report of a listing.
type Complaint struct {
	Listing Hash   `cbor:"1,keyasint" json:"listing"`
	By      Key    `cbor:"2,keyasint" json:"by"`
	Reason  string `cbor:"3,keyasint" json:"reason"`
	At      int64  `cbor:"4,keyasint" json:"at"`
}
