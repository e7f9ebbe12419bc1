package serve

import (
	"context"
	"fmt"

	"github.com/skip2/go-qrcode"
)

// maxQR is the maximum length of a text for a QR code, in bytes.
const maxQR = 1000

// QRRequest has the text of a QR code.
type QRRequest struct {
	Text string `json:"text"`
}

// QR is a QR code with its quiet zone.
type QR struct {
	Rows []string `json:"rows"` // from the top; in each, 0 is light and 1 is dark
}

func (r *QRRequest) check() error {
	if r.Text == "" || len(r.Text) > maxQR {
		return kindInvalid.problem("text", fmt.Sprintf("text: %d bytes, want 1 to %d", len(r.Text), maxQR))
	}
	return nil
}

var drawQR = jsonRoute(RightOwner, spec{
	method: "POST", path: "/v1/qr", id: "drawQR",
	summary: "Make a QR code of a text, for the camera of another device", gives: "The picture; nothing is stored",
}, func(_ *handler, _ context.Context, in QRRequest) (v QR, err error) {
	q, err := qrcode.New(in.Text, qrcode.Low)
	if err != nil {
		return v, kindInvalid.problem("text", "text: "+err.Error())
	}
	for _, line := range q.Bitmap() {
		row := make([]byte, len(line))
		for x, dark := range line {
			row[x] = '0'
			if dark {
				row[x] = '1'
			}
		}
		v.Rows = append(v.Rows, string(row))
	}
	return v, nil
})

// QR makes a QR code of a text.
func (c *Client) QR(ctx context.Context, text string) (QR, error) {
	return call(ctx, c, drawQR, QRRequest{text})
}
