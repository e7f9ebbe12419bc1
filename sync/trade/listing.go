package trade

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"unicode"
	"unicode/utf8"
)

// Listing is an offer. The lengths of texts are in bytes of UTF-8; Description, Sample and Terms
// may have line breaks.
type Listing struct {
	Version     uint              `cbor:"1,keyasint"`
	First       Hash              `cbor:"2,keyasint"` // hash of the first version, which is the id; zero: this is the first
	Prev        Hash              `cbor:"3,keyasint"` // hash of the previous version; zero in the first
	Number      uint32            `cbor:"4,keyasint"` // of this version, from 1
	Market      Key               `cbor:"5,keyasint"` // the only market at which it can be ordered
	Arbiter     Key               `cbor:"6,keyasint"` // who decides disputes
	Seller      Key               `cbor:"7,keyasint"` // who signs it
	Title       string            `cbor:"8,keyasint"`
	Description string            `cbor:"9,keyasint"`
	Categories  []string          `cbor:"10,keyasint"` // lower case and hyphens: garden, travel-japan
	Languages   []string          `cbor:"11,keyasint"` // BCP 47: en, zh-Hans
	Items       uint32            `cbor:"12,keyasint"` // in the bundle
	Counts      map[string]uint32 `cbor:"13,keyasint"` // numbers of items by type of memory; they add up to Items
	Since       int64             `cbor:"14,keyasint"` // the first day that items are about, in Unix seconds; 0: not stated
	Until       int64             `cbor:"15,keyasint"`
	Sample      []string          `cbor:"16,keyasint"` // samples that the seller made
	Licence     string            `cbor:"17,keyasint"`
	Terms       string            `cbor:"18,keyasint"`
	Price       uint64            `cbor:"19,keyasint"` // in minor units: cents
	Currency    string            `cbor:"20,keyasint"` // ISO 4217: EUR
	Redaction   []string          `cbor:"21,keyasint"` // which kinds of redaction were used; never the words
	Root        Hash              `cbor:"22,keyasint"` // root of the sealed items
	Size        uint64            `cbor:"23,keyasint"` // bytes of the sealed items
	Commitment  Hash              `cbor:"24,keyasint"` // commitment of the bundle's key
	Deliver     uint32            `cbor:"25,keyasint"` // seconds that the seller has to deliver the key
	Accept      uint32            `cbor:"26,keyasint"` // seconds that the buyer has to accept or dispute
	Created     int64             `cbor:"27,keyasint"` // when it was made, by the seller's clock, in Unix seconds
	// Period is the period of a subscription, in seconds: each version has the items of one period.
	// 0: it is not a subscription.
	Period uint32 `cbor:"28,keyasint,omitempty"`
	// Answers is set if answers are sold; the price is then that of one answer. nil: the bundle is
	// sold.
	Answers *Answers `cbor:"29,keyasint,omitempty"`
	// Marks is the number of places at which one buyer's copy can differ from another's, so that
	// the seller can tell whose copy it is. 0: all copies are the same.
	Marks uint32 `cbor:"30,keyasint,omitempty"`
	// Entry says that the entry to a community is sold: each question says who wants to join, and
	// the answer is the bundle's only item, the community's link, which is delivered once they were
	// admitted.
	Entry bool `cbor:"31,keyasint,omitempty"`
}

// Limits of a listing's times, in seconds. A buyer has at least an hour to examine what was
// delivered.
const (
	MinTerm = 60 * 60
	MaxTerm = 30 * 24 * 60 * 60
)

// Offer is a parsed listing: its content, its hash, and its id.
type Offer struct {
	Listing
	Hash   Hash   // hash of this version
	Signed []byte // the signed bytes as they came
}

// ID is the same for all versions.
func (o *Offer) ID() Hash {
	if o.First.IsZero() {
		return o.Hash
	}
	return o.First
}

// SignListing returns the signed form, and checks it as [ReadListing] does.
func SignListing(l Listing, seller Party) (*Offer, error) {
	l.Version, l.Seller = Version, seller.Key
	if err := l.check(); err != nil {
		return nil, err
	}
	b, hash, err := signBody(domainListing, &l, seller)
	if err != nil {
		return nil, err
	}
	if len(b) > MaxListing {
		return nil, fmt.Errorf("listing: %w: %d bytes, at most %d", ErrForm, len(b), MaxListing)
	}
	return &Offer{Listing: l, Hash: hash, Signed: b}, nil
}

// ReadListing parses a listing, and checks signature, form and limits. Errors name the field.
func ReadListing(b []byte) (*Offer, error) {
	o := Offer{Signed: b}
	by, hash, err := read(domainListing, b, &o.Listing, MaxListing)
	if err != nil {
		return nil, fmt.Errorf("listing: %w", err)
	}
	if by != o.Seller {
		return nil, fmt.Errorf("listing: seller: %w", ErrSignature)
	}
	o.Hash = hash
	return &o, o.check()
}

var (
	category = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	language = regexp.MustCompile(`^[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$`)
	currency = regexp.MustCompile(`^[A-Z]{3,4}$`)
)

func (l *Listing) check() error {
	bad := func(field, format string, args ...any) error {
		return fmt.Errorf("listing: %s: %w: %s", field, ErrForm, fmt.Sprintf(format, args...))
	}
	if l.Version != Version {
		return bad("version", "%d, this program knows %d", l.Version, Version)
	}
	if first := l.Number == 1; l.Number == 0 || first != l.First.IsZero() || first != l.Prev.IsZero() {
		return bad("number", "%d: the first version is 1 and names none before it; a later one names both", l.Number)
	}
	if l.Market.IsZero() || l.Arbiter.IsZero() || l.Seller.IsZero() {
		return bad("market", "market, arbiter and seller are needed")
	}
	for _, t := range []struct {
		field, text string
		least, most int
		lines       bool
	}{{"title", l.Title, 3, 120, false}, {"description", l.Description, 0, 4000, true}, {"licence", l.Licence, 1, 120, false}, {"terms", l.Terms, 0, 2000, true}} {
		if err := Text(t.text, t.least, t.most, t.lines); err != nil {
			return fmt.Errorf("listing: %s: %w", t.field, err)
		}
	}
	for _, list := range []struct {
		field string
		texts []string
		each  int
		many  int
		form  *regexp.Regexp
	}{{"categories", l.Categories, 40, 8, category}, {"languages", l.Languages, 24, 8, language}, {"redaction", l.Redaction, 40, 16, nil}, {"sample", l.Sample, 500, 5, nil}} {
		if len(list.texts) > list.many {
			return bad(list.field, "%d, at most %d", len(list.texts), list.many)
		}
		for _, s := range list.texts {
			if err := Text(s, 1, list.each, list.field == "sample"); err != nil {
				return fmt.Errorf("listing: %s: %w", list.field, err)
			}
			if list.form != nil && !list.form.MatchString(s) {
				return bad(list.field, "%q", s)
			}
		}
	}
	if len(l.Categories) == 0 || len(l.Languages) == 0 {
		return bad("categories", "one category and one language are needed at least")
	}
	var sum uint64
	for name, n := range l.Counts {
		if !category.MatchString(name) || len(name) > 40 {
			return bad("counts", "%.60q", name)
		}
		sum += uint64(n)
	}
	switch {
	case l.Items == 0 || l.Items > MaxItems:
		return bad("items", "%d, want 1 to %d", l.Items, MaxItems)
	case sum != uint64(l.Items) || len(l.Counts) > 8:
		return bad("counts", "%v do not add up to %d", slices.Sorted(maps.Values(l.Counts)), l.Items)
	case l.Size == 0 || l.Size > MaxBundle:
		return bad("size", "%d bytes, at most %d", l.Size, MaxBundle)
	case l.Root.IsZero() || l.Commitment.IsZero():
		return bad("root", "root and commitment are needed")
	case l.Since < 0 || l.Until < 0 || l.Until != 0 && l.Until < l.Since:
		return bad("since", "the period ends before it begins")
	case l.Price == 0 || l.Price > MaxPrice:
		return bad("price", "%d, want 1 to %d minor units", l.Price, uint64(MaxPrice))
	case !currency.MatchString(l.Currency):
		return bad("currency", "%.10q: want capital letters, as EUR", l.Currency)
	case l.Deliver < MinTerm || l.Deliver > MaxTerm:
		return bad("deliver", "%d seconds, want %d to %d", l.Deliver, MinTerm, MaxTerm)
	case l.Accept < MinTerm || l.Accept > MaxTerm:
		return bad("accept", "%d seconds, want %d to %d", l.Accept, MinTerm, MaxTerm)
	case l.Period != 0 && (l.Period < MinPeriod || l.Period > MaxPeriod):
		return bad("period", "%d seconds, want %d to %d", l.Period, MinPeriod, MaxPeriod)
	case l.Marks > MaxMarks || l.Marks > 0 && l.Answers != nil:
		return bad("marks", "%d, at most %d, and none where answers are sold", l.Marks, MaxMarks)
	case l.Created <= 0:
		return bad("created", "%d", l.Created)
	}
	return l.checkAnswers()
}

// Text checks a text from a stranger: its length in bytes, that it is UTF-8, that it has no
// characters that are invisible or control a terminal or the direction of writing, and that no word
// mixes Latin letters with similar Cyrillic or Greek ones.
func Text(s string, least, most int, lines bool) error {
	if len(s) < least || len(s) > most {
		return fmt.Errorf("%w: %d bytes, want %d to %d", ErrForm, len(s), least, most)
	}
	if !utf8.ValidString(s) {
		return fmt.Errorf("%w: not UTF-8", ErrForm)
	}
	var latin, other bool
	marks := 0
	for i, r := range s {
		if !unicode.IsPrint(r) && !(lines && r == '\n') {
			return fmt.Errorf("%w: character %U at byte %d can't be seen", ErrForm, r, i)
		}
		switch {
		case unicode.Is(unicode.Latin, r):
			latin = true
		case unicode.In(r, unicode.Cyrillic, unicode.Greek):
			other = true
		case !unicode.IsMark(r) && !unicode.IsDigit(r):
			latin, other = false, false
		}
		if latin && other {
			return fmt.Errorf("%w: the word at byte %d mixes Latin letters with others that look like them", ErrForm, i)
		}
		if marks++; !unicode.IsMark(r) {
			marks = 0
		}
		if marks > 4 {
			return fmt.Errorf("%w: too many marks over one letter at byte %d", ErrForm, i)
		}
	}
	return nil
}
