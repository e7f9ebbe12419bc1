package page

import "github.com/locket-dev/locket/sync/envelope"

// MaxPlaces is the greatest length in bytes of an answer with places.
const MaxPlaces = 66*envelope.MaxPlaces + 3

// EncodePlaces returns the answer with places.
func EncodePlaces(ps []envelope.Place) []byte { return encodeList(ps) }

// DecodePlaces decodes it. It checks only the form.
func DecodePlaces(b []byte) ([]envelope.Place, error) {
	return decodeList[envelope.Place](b, "places", envelope.MaxPlaces)
}
