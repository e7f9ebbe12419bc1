package page

import (
	"fmt"

	"github.com/locket-dev/locket/sync/envelope"
)

// Limits of checkpoints in one answer.
const (
	MaxCheckpoints = 8
	MaxVotes       = 128                                                                   // on one checkpoint
	MaxVoted       = MaxCheckpoints * (envelope.MaxCheckpoint + envelope.MaxVote*MaxVotes) // bytes of the answer
)

// Voted is a checkpoint with the votes on it, in their wire forms.
type Voted struct {
	_          struct{} `cbor:",toarray"`
	Checkpoint []byte
	Votes      [][]byte
}

// EncodeVoted returns the answer with checkpoints.
func EncodeVoted(vs []Voted) []byte { return encodeList(vs) }

// DecodeVoted decodes it.
func DecodeVoted(b []byte) ([]Voted, error) {
	vs, err := decodeList[Voted](b, "checkpoints", MaxCheckpoints)
	if err != nil {
		return nil, err
	}
	for _, v := range vs {
		if len(v.Votes) > MaxVotes {
			return nil, fmt.Errorf("checkpoints: %w: %d votes, at most %d", ErrForm, len(v.Votes), MaxVotes)
		}
	}
	return vs, nil
}
