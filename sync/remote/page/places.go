package page

import (
	"fmt"

	"github.com/locket-dev/locket/sync/envelope"
)

// MaxPlaces is how many bytes an answer with places has at most.
const MaxPlaces = 66*envelope.MaxPlaces + 3

// EncodePlaces is the answer with places.
func EncodePlaces(ps []envelope.Place) []byte {
	if ps == nil {
		ps = []envelope.Place{}
	}
	return encode(ps)
}

// DecodePlaces reads it. Nothing but its form is checked.
func DecodePlaces(b []byte) ([]envelope.Place, error) {
	var ps []envelope.Place
	if err := decode(b, &ps, "places"); err != nil {
		return nil, err
	}
	if len(ps) > envelope.MaxPlaces {
		return nil, fmt.Errorf("places: %w: %d, at most %d", ErrForm, len(ps), envelope.MaxPlaces)
	}
	return ps, nil
}
