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
	Reviews  [][]byte `cbor:"4,keyasint"`           // signed, the newest first
	Versions []Hash   `cbor:"5,keyasint"`           // all, the oldest first
	Origins  []Origin `cbor:"6,keyasint,omitempty"` // where it was before
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
	Spend    bool   `cbor:"4,keyasint"` // of what is left as a buyer; else of what was earned
}

// Issue makes vouchers, by the market's key.
type Issue struct {
	Batch    string `cbor:"1,keyasint"`
	Count    uint32 `cbor:"2,keyasint"`
	Minor    uint64 `cbor:"3,keyasint"`
	Currency string `cbor:"4,keyasint"`
	Until    int64  `cbor:"5,keyasint"` // Unix seconds
}

// Codes are vouchers.
type Codes struct {
	Codes []string `cbor:"1,keyasint" json:"codes"`
}

// Complaint is a report of a listing.
type Complaint struct {
	Listing Hash   `cbor:"1,keyasint" json:"listing"`
	By      Key    `cbor:"2,keyasint" json:"by"`
	Reason  string `cbor:"3,keyasint" json:"reason"`
	At      int64  `cbor:"4,keyasint" json:"at"`
}
