// Package delegate lets an app pass on a part of its rights without a network and
// without asking: for example to a helper of an agent, for one task, or for an hour.
//
// A key that was passed on is a chain. Each link narrows what the previous one allows,
// and names the key that may add the next; it is signed by the key that the previous
// link names, and the first link by a key that is derived from the app's own key. The
// holder of the chain has the last of these keys, and can use it or pass it on further,
// as far as each link allows. Nobody can remove a link, because the next one would not
// have a valid signature.
//
// The content of a link is fixed: it has only the fields below, each of which can only
// narrow. So a chain allows what all of its links allow, whoever wrote them.
//
// FORMAT of a chain: "lka_." and the base64url, without padding, of the
// deterministic CBOR (RFC 8949 4.2.1) of
//
//	{1: version, 1; 2: app; 3: [link, …]; 4: seed, 32 bytes, of the last key}
//	link = {1: what it says, bytes; 2: Ed25519 signature of a label, the links before and what it says}
//	what it says = {1: the next key, 32 bytes; 2: how many links may follow; 3: [rights]; 4: [types];
//	                5: sensitivity; 6: [tags]; 7: since; 8: until; 9: ends}, times in seconds since 1970; 3 to 9 only where they narrow
package delegate

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/canonical"
)

// Errors that callers can tell apart.
var (
	ErrChain = errors.New("this is not a key that was passed on")
	ErrDepth = errors.New("this key may not be passed on any further")
	ErrWider = errors.New("a key that is passed on can only be narrower")
)

// MaxDepth is the maximum number of links of a chain.
const MaxDepth = 8

const prefix = serve.KeyPrefix + "."

// Narrow is what one link leaves of what was allowed before it. A zero field narrows
// nothing.
type Narrow struct {
	Can         []string            `cbor:"3,keyasint,omitempty"`
	Types       []string            `cbor:"4,keyasint,omitempty"`
	Sensitivity *memory.Sensitivity `cbor:"5,keyasint,omitempty"` // maximum
	Tags        []string            `cbor:"6,keyasint,omitempty"` // only memories with one of these
	Since       int64               `cbor:"7,keyasint,omitempty"` // only evidence from then on; s since 1970
	Until       int64               `cbor:"8,keyasint,omitempty"`
	Ends        int64               `cbor:"9,keyasint,omitempty"` // when the key expires
}

type says struct {
	Next []byte `cbor:"1,keyasint"`
	More int    `cbor:"2,keyasint"` // how many links may follow
	Narrow
}

type link struct {
	Says []byte `cbor:"1,keyasint"`
	Sig  []byte `cbor:"2,keyasint"`
}

type chain struct {
	Version int    `cbor:"1,keyasint"`
	App     string `cbor:"2,keyasint"`
	Links   []link `cbor:"3,keyasint"`
	Seed    []byte `cbor:"4,keyasint"`
}

var reading = canonical.Reader(canonical.Limits{Levels: 6, Items: 64, Pairs: 16})

// Root is the public key that signs the first link of an app's chains.
func Root(app serve.Secret) ed25519.PublicKey { return root(app).Public().(ed25519.PublicKey) }

func root(app serve.Secret) ed25519.PrivateKey {
	sum := sha256.Sum256([]byte("locket delegation v1\x00" + app)) // this is enough, because the key has 130 random bits
	return ed25519.NewKeyFromSeed(sum[:])
}

// Is reports whether a key looks like one that was passed on.
func Is(key serve.Secret) bool { return strings.HasPrefix(string(key), prefix) }

// Pass makes a narrower key, which itself may be passed on more times. key is the own
// key of the app of that name, or one that was passed on; then the name may be empty.
// Pass can't know what the node will refuse because the owner allowed less. The owner
// revokes the new key by the id.
func Pass(key serve.Secret, app string, n Narrow, more int) (narrower serve.Secret, id string, err error) {
	c, signer := &chain{Version: 1, App: app}, root(key)
	if Is(key) {
		if c, err = read(key); err != nil {
			return "", "", err
		}
		if app != "" && app != c.App {
			return "", "", fmt.Errorf("%w: it is of app %q, and not of %q", ErrChain, c.App, app)
		}
		signer = ed25519.NewKeyFromSeed(c.Seed)
		if err := c.mayFollow(more); err != nil {
			return "", "", err
		}
	} else if app == "" {
		return "", "", fmt.Errorf("%w: the app whose key it is has to be named", ErrChain)
	}
	if more < 0 || more >= MaxDepth-len(c.Links) {
		return "", "", fmt.Errorf("%w: %d more times", ErrDepth, more)
	}
	seed := make([]byte, ed25519.SeedSize)
	rand.Read(seed)
	raw := canonical.Encode(says{Next: ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey), More: more, Narrow: n})
	c.Links = append(c.Links, link{raw, ed25519.Sign(signer, c.signed(len(c.Links), raw))})
	c.Seed = seed
	text := prefix + base64.RawURLEncoding.EncodeToString(canonical.Encode(c))
	return serve.Secret(text), c.id(len(c.Links) - 1), nil
}

// mayFollow returns an error unless the last link allows another one to follow.
func (c *chain) mayFollow(more int) error {
	var last says
	if err := reading.Unmarshal(c.Links[len(c.Links)-1].Says, &last); err != nil {
		return fmt.Errorf("%w: %v", ErrChain, err)
	}
	if last.More == 0 || more >= last.More {
		return fmt.Errorf("%w: it allows %d more", ErrDepth, last.More)
	}
	return nil
}

// signed returns what the signature of link i covers, which includes everything before
// it.
func (c *chain) signed(i int, raw []byte) []byte {
	h := sha256.New()
	h.Write([]byte("locket delegation v1\x00" + c.App + "\x00"))
	for _, l := range c.Links[:i] {
		sum := sha256.Sum256(l.Says)
		h.Write(sum[:])
	}
	sum := sha256.Sum256(raw)
	h.Write(sum[:])
	return h.Sum(nil)
}

// id returns the id of the chain up to link i, which also stands for all chains that
// continue it.
func (c *chain) id(i int) string { return hex.EncodeToString(c.signed(i, c.Links[i].Says)[:8]) }

func read(key serve.Secret) (*chain, error) {
	if len(key) > 8<<10 {
		return nil, fmt.Errorf("%w: %d bytes", ErrChain, len(key))
	}
	text := strings.TrimPrefix(string(key), prefix)
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") { // the decoder would ignore line breaks
		return nil, ErrChain
	}
	c := &chain{}
	if err := reading.Unmarshal(raw, c); err != nil || c.Version != 1 || len(c.Links) < 1 || len(c.Links) > MaxDepth || len(c.Seed) != ed25519.SeedSize {
		return nil, ErrChain
	}
	if again, err := canonical.Encoding.Marshal(c); err != nil || !bytes.Equal(again, raw) {
		return nil, ErrChain
	}
	return c, nil
}

// App returns the name of the app to which a chain claims to belong. [Check] verifies
// that.
func App(key serve.Secret) (string, error) {
	c, err := read(key)
	if err != nil {
		return "", err
	}
	return c.App, nil
}

// Check verifies a chain against the root of its app and the number of links that the
// owner allows, and narrows the app's rights to what the chain allows; Delegate is then
// how often the key may still be passed on. The ids are those of its links: the chain is
// valid unless one of them was revoked.
func Check(key serve.Secret, root ed25519.PublicKey, most int, app serve.AppRequest) (r serve.AppRequest, ids []string, err error) {
	c, err := read(key)
	if err != nil {
		return r, nil, err
	}
	if len(c.Links) > most || len(root) != ed25519.PublicKeySize {
		return r, nil, ErrDepth
	}
	signer, left := root, most
	r = app
	for i, l := range c.Links {
		if !ed25519.Verify(signer, c.signed(i, l.Says), l.Sig) {
			return r, nil, ErrChain
		}
		var s says
		if err := reading.Unmarshal(l.Says, &s); err != nil || len(s.Next) != ed25519.PublicKeySize || s.More < 0 {
			return r, nil, ErrChain
		}
		if left == 0 {
			return r, nil, ErrDepth
		}
		if r, err = s.apply(r); err != nil {
			return r, nil, err
		}
		signer, left = s.Next, min(left-1, s.More)
		ids = append(ids, c.id(i))
	}
	if !bytes.Equal(ed25519.NewKeyFromSeed(c.Seed).Public().(ed25519.PublicKey), signer) {
		return r, nil, ErrChain // the sender does not have the chain's key
	}
	r.Delegate = left
	return r, ids, nil
}

// apply returns what a link leaves of what was allowed.
func (n *Narrow) apply(r serve.AppRequest) (serve.AppRequest, error) {
	if len(n.Can) > 0 {
		r.Can = slices.DeleteFunc(slices.Clone(r.Can), func(c serve.Right) bool { return !slices.Contains(n.Can, string(c)) })
	}
	if len(n.Types) > 0 {
		r.Types = slices.DeleteFunc(slices.Clone(r.Types), func(t string) bool { return !slices.Contains(n.Types, t) })
	}
	if n.Sensitivity != nil && (r.Sensitivity == nil || *n.Sensitivity < *r.Sensitivity) {
		most := *n.Sensitivity
		if r.Sensitivity == nil {
			most = min(most, memory.Personal) // the default of an app without a sensitivity
		}
		r.Sensitivity = &most
	}
	if len(n.Tags) > 0 {
		if len(r.Tags) == 0 {
			r.Tags = n.Tags
		} else if r.Tags = slices.DeleteFunc(slices.Clone(r.Tags), func(t string) bool { return !slices.Contains(n.Tags, t) }); len(r.Tags) == 0 {
			return r, fmt.Errorf("%w: no tag would be left", ErrWider) // and none would be all
		}
	}
	// Lines have no tags and no sensitivity of their own.
	if len(r.Tags) > 0 || r.Sensitivity != nil && *r.Sensitivity < memory.Private {
		r.Types = slices.DeleteFunc(slices.Clone(r.Types), func(t string) bool { return t == serve.AppUtterances })
	}
	if since := time.Unix(n.Since, 0).UTC(); n.Since != 0 && since.After(r.Since) {
		r.Since = since
	}
	r.Until, r.Ends = earlier(r.Until, n.Until), earlier(r.Ends, n.Ends)
	if len(r.Can) == 0 || len(r.Types) == 0 {
		return r, fmt.Errorf("%w: no right or no type would be left", ErrWider)
	}
	return r, nil
}

// earlier returns the earlier of two ends; zero means none.
func earlier(t time.Time, s int64) time.Time {
	if at := time.Unix(s, 0).UTC(); s != 0 && (t.IsZero() || at.Before(t)) {
		return at
	}
	return t
}
