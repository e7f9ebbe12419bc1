package pairing

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// Grant is what a new device needs to find the space. The space's keys are in
// the membership log, sealed to the device.
type Grant struct {
	Space   memory.SpaceID `json:"space"`
	Genesis envelope.Hash  `json:"genesis"` // of the log's first entry
	Relay   string         `json:"relay"`
	Wearer  string         `json:"wearer"`
}

const grantDomain = "locket/v1 pairing grant"

type signedGrant struct {
	Sealed    []byte `json:"sealed"`
	Signature []byte `json:"signature"`
}

// SendGrant sends the grant, sealed to the new device and signed by this device.
func (m *Meeting) SendGrant(ctx context.Context, g Grant, sign envelope.Signer) error {
	to, err := seal.ParseRecipient(m.Other.Recipient)
	if err != nil {
		return err
	}
	plain, err := json.Marshal(g)
	if err != nil {
		return err
	}
	sealed, err := seal.SealTo(to, plain)
	if err != nil {
		return err
	}
	sig, err := sign(grantDomain, parts("grant", m.transcript[:], sealed))
	if err != nil {
		return err
	}
	b, err := json.Marshal(signedGrant{sealed, sig})
	if err != nil {
		return err
	}
	if err := m.talk.send(ctx, stepGrant, false, b); err != nil {
		return fmt.Errorf("pair: %w", err)
	}
	return nil
}

// ReceiveGrant waits for the grant, after both sides agreed.
func (m *Meeting) ReceiveGrant(ctx context.Context, open func(sealed []byte) ([]byte, error)) (g Grant, err error) {
	b, err := m.talk.receive(ctx, stepGrant)
	if err != nil {
		return g, fmt.Errorf("pair: %w", err)
	}
	var s signedGrant
	if err := json.Unmarshal(b, &s); err != nil || !envelope.Verify(m.Other.Key, grantDomain, parts("grant", m.transcript[:], s.Sealed), s.Signature) {
		return g, fmt.Errorf("pair: %w: the grant is not the other device's", ErrTampered)
	}
	plain, err := open(s.Sealed)
	if err != nil {
		return g, fmt.Errorf("pair: %w", err)
	}
	if err := json.Unmarshal(plain, &g); err != nil || g.Space.IsZero() {
		return g, fmt.Errorf("pair: %w: the grant is malformed", ErrTampered)
	}
	return g, nil
}
