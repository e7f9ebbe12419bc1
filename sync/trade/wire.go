package trade

// The requests and answers of a market besides the signed objects. Everything is canonical CBOR. A
// client checks each signed object in an answer; counts and the order of hits are only the market's
// claims.

// MaxAnswer is the greatest length of an answer, in bytes.
const MaxAnswer = 4 << 20

// Limits of one answer.
const (
	MaxHits   = 50
	MaxSkip   = 1000
	MaxFacets = 20
	MaxShown  = 50 // reviews of one listing
	MaxOrders = 16
)

// Terms are the terms of a market.
type Terms struct {
	Market  Key      `cbor:"1,keyasint" json:"market"`
	Arbiter string   `cbor:"2,keyasint" json:"arbiter"` // key and recipient, as locket share key prints them
	Fee     uint32   `cbor:"3,keyasint" json:"fee"`     // share of what sellers earn, in hundredths of a percent
	Pays    []string `cbor:"4,keyasint" json:"pays"`    // ways to pay
	// Log is the name of the transparency log, which is signed with Market; empty if there is none.
	// Witnesses cosign it: each is written as the URL of a relay, a space, and the witness's key in
	// the format of C2SP.
	Log       string   `cbor:"5,keyasint" json:"log"`
	Witnesses []string `cbor:"6,keyasint" json:"witnesses"`
}

// Hit is a listing in the result of a search.
type Hit struct {
	Listing []byte `cbor:"1,keyasint"` // signed
	Sold    uint32 `cbor:"2,keyasint"` // orders that ended with a delivered key
	Reviews uint32 `cbor:"3,keyasint"`
	Stars   uint32 `cbor:"4,keyasint"` // the sum of all stars
}

// Facet is the number of hits that have a value.
type Facet struct {
	Kind  string `cbor:"1,keyasint" json:"kind"` // category, language or currency
	Value string `cbor:"2,keyasint" json:"value"`
	Count uint32 `cbor:"3,keyasint" json:"count"`
}

// Found is the result of a search.
type Found struct {
	Hits   []Hit   `cbor:"1,keyasint"`
	Facets []Facet `cbor:"2,keyasint"` // of all matches, not only of these hits
	Total  uint32  `cbor:"3,keyasint"`
}

// Shown is one listing. If it has ended, Notice is the signed withdrawal or takedown.
type Shown struct {
	Hit      Hit      `cbor:"1,keyasint"`
	State    string   `cbor:"2,keyasint"` // live, withdrawn or removed
	Notice   []byte   `cbor:"3,keyasint"`
	Reviews  [][]byte `cbor:"4,keyasint"`           // signed, the newest first; empty: a review that was deleted
	Versions []Hash   `cbor:"5,keyasint"`           // all versions, the oldest first
	Origins  []Origin `cbor:"6,keyasint,omitempty"` // earlier listings at other markets
	Proofs   []Proof  `cbor:"7,keyasint,omitempty"` // proofs of Reviews, in their order
	Ordered  [][]byte `cbor:"8,keyasint,omitempty"` // signed: earlier versions that the orders of Proofs name
	Log      []byte   `cbor:"9,keyasint,omitempty"` // the signed checkpoint to which all proofs lead
}

// The states of a listing.
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
	Voucher string `cbor:"1,keyasint"` // empty: paid from the buyer's balance at the market
}

// Checkout says where an order is paid by card.
type Checkout struct {
	URL string `cbor:"1,keyasint" json:"url"` // URL of a page of the payment provider
}

// Chains are orders, the one with the latest step first.
type Chains struct {
	Orders []Chain `cbor:"1,keyasint"`
}

// Balance is the balance of a key at a market.
type Balance struct {
	Currency string `cbor:"1,keyasint" json:"currency"`
	Spend    int64  `cbor:"2,keyasint" json:"spend"`  // minor units, as a buyer
	Earned   int64  `cbor:"3,keyasint" json:"earned"` // minor units, as a seller
}

// Payout withdraws money from a market.
type Payout struct {
	Key      Hash   `cbor:"1,keyasint"` // random; a request with the same key is the same payout
	Minor    uint64 `cbor:"2,keyasint"`
	Currency string `cbor:"3,keyasint"`
	Spend    bool   `cbor:"4,keyasint"`           // pays out the buyer's balance; otherwise what was earned
	To       string `cbor:"5,keyasint,omitempty"` // an address, if the market is paid by x402; empty: by a voucher
}

// Issue makes vouchers, with the market's key.
type Issue struct {
	Batch    string `cbor:"1,keyasint"`
	Count    uint32 `cbor:"2,keyasint"`
	Minor    uint64 `cbor:"3,keyasint"`
	Currency string `cbor:"4,keyasint"`
	Until    int64  `cbor:"5,keyasint"` // Unix seconds
}

// Batch is the state of vouchers that were issued together.
type Batch struct {
	Name     string `cbor:"1,keyasint" json:"name"` // empty: all payouts to sellers and buyers
	Issued   int    `cbor:"2,keyasint" json:"issued"`
	Used     int    `cbor:"3,keyasint" json:"used"`
	Revoked  int    `cbor:"4,keyasint" json:"revoked"`
	Lapsed   int    `cbor:"5,keyasint" json:"lapsed"`
	Open     int64  `cbor:"6,keyasint" json:"open"` // minor units that can still be redeemed
	Currency string `cbor:"7,keyasint" json:"currency"`
	Until    int64  `cbor:"8,keyasint" json:"until"` // Unix seconds
}

// Revocation ends the unused vouchers of a batch, with the market's key.
type Revocation struct {
	Batch string `cbor:"1,keyasint"`
}

// Revoked is the number of vouchers that this ended.
type Revoked struct {
	Count int64 `cbor:"1,keyasint" json:"revoked"`
}

// Codes are vouchers.
type Codes struct {
	Codes []string `cbor:"1,keyasint" json:"codes"`
}

// Open is a case that waits for the operator of a market that agents pay by x402: a payout to an
// address, or a payment for which it is not known whether it was settled.
type Open struct {
	ID          Hash   `cbor:"1,keyasint" json:"id"`
	Payout      bool   `cbor:"2,keyasint" json:"payout"`
	Order       string `cbor:"3,keyasint" json:"order,omitempty"` // of a payment
	Address     string `cbor:"4,keyasint" json:"address"`         // of the recipient, or of the payer
	Minor       int64  `cbor:"5,keyasint" json:"minor"`
	Currency    string `cbor:"6,keyasint" json:"currency"`
	Amount      string `cbor:"7,keyasint" json:"amount,omitempty"` // of a payout, in units of the token
	Transaction string `cbor:"8,keyasint" json:"transaction,omitempty"`
	Reason      string `cbor:"9,keyasint" json:"reason,omitempty"`
	At          int64  `cbor:"10,keyasint" json:"at"`                // in seconds: when a payout was requested, or when a payment ends
	By          string `cbor:"11,keyasint" json:"by"`                // key that requested a payout, or whose order is paid
	Network     string `cbor:"12,keyasint" json:"network,omitempty"` // of a payout
	Asset       string `cbor:"13,keyasint" json:"asset,omitempty"`   // of a payout: the token's address
}

// Closed is the operator's outcome of such a case.
type Closed struct {
	ID          Hash   `cbor:"1,keyasint"`
	Transaction string `cbor:"2,keyasint"` // the transaction that paid or settled it; empty: a payment was never settled
	// Together says that the transaction paid other payouts, too. Without it, a transaction that
	// closed another case is refused as a mistake.
	Together bool `cbor:"3,keyasint,omitempty"`
}

// Complaint is a report about a listing.
type Complaint struct {
	Listing Hash   `cbor:"1,keyasint" json:"listing"`
	By      Key    `cbor:"2,keyasint" json:"by"`
	Reason  string `cbor:"3,keyasint" json:"reason"`
	At      int64  `cbor:"4,keyasint" json:"at"`
}
