package page

import "github.com/locket-dev/locket/sync/envelope"

// MaxPlaces is how many bytes an answer with places has at most.
const MaxPlaces = 66*envelope.MaxPlaces + 3

// EncodePlaces is the answer with places.
func EncodePlaces(ps []envelope.Place) []byte { return encodeList(ps) }

// DecodePlaces reads it. Nothing but its form is checked.
func DecodePlaces(b []byte) ([]envelope.Place, error) {
	return decodeList[envelope.Place](b, "places", envelope.MaxPlaces)
}
