//go:build !js

package figure

import (
	"bytes"
	"encoding/binary"
	"os"
	"slices"
	"testing"

	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
)

// withoutOutlines is a TrueType font with the tables that measuring takes, and no
// glyph drawn: see face_js.go.
func withoutOutlines(ttf []byte) []byte {
	keep := []string{"OS/2", "cmap", "head", "hhea", "hmtx", "kern", "loca", "maxp", "name", "post"}
	type table struct {
		tag  string
		data []byte
	}
	var tables []table
	n := int(binary.BigEndian.Uint16(ttf[4:]))
	for i := range n {
		e := ttf[12+16*i:]
		tag, offset, length := string(e[:4]), binary.BigEndian.Uint32(e[8:]), binary.BigEndian.Uint32(e[12:])
		if slices.Contains(keep, tag) {
			data := ttf[offset : offset+length]
			if tag == "loca" {
				data = make([]byte, length) // each glyph is empty
			}
			if tag == "post" {
				data = slices.Clone(data[:32])
				copy(data, "\x00\x03\x00\x00") // glyphs have no names
			}
			tables = append(tables, table{tag, data})
		}
	}
	out := slices.Clone(ttf[:4])
	for _, v := range []int{len(tables), 0, 0, 0} { // what speeds up a search is not read
		out = binary.BigEndian.AppendUint16(out, uint16(v))
	}
	at := 12 + 16*len(tables)
	var body []byte
	for _, t := range tables {
		out = append(out, t.tag...)
		for _, v := range []int{0, at + len(body), len(t.data)} {
			out = binary.BigEndian.AppendUint32(out, uint32(v))
		}
		body = append(body, t.data...)
		for len(body)%4 != 0 {
			body = append(body, 0)
		}
	}
	return append(out, body...)
}

// The page's face is Go Regular without its outlines, and measures as it does:
// every text of every figure takes the same room.
func TestFaceOfThePageMeasuresTheSame(t *testing.T) {
	want := withoutOutlines(goregular.TTF)
	var got []byte
	// The second stands in the page's module for the faces of gonum's default.
	for _, path := range []string{"goregular-measures.ttf", "../wasm/liberation/measures/goregular-measures.ttf"} {
		if os.Getenv("UPDATE_FACE") != "" {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		var err error
		if got, err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("%s is not what Go Regular is without its outlines: UPDATE_FACE=1 go test -run %s writes it anew", path, t.Name())
		}
	}
	t.Logf("%d bytes, of %d", len(got), len(goregular.TTF))
	faces := make([]font.Face, 2)
	for i, b := range [][]byte{goregular.TTF, got} {
		f, err := opentype.Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		faces[i] = font.Face{Font: font.Font{Typeface: typeface, Size: 11.5}, Face: f}
	}
	if a, b := faces[0].Extents(), faces[1].Extents(); a != b {
		t.Errorf("extents %v, want %v", b, a)
	}
	for r := rune(0x20); r < 0x3000; r++ {
		for _, text := range []string{string(r), "A" + string(r), string(r) + "V."} {
			if a, b := faces[0].Width(text), faces[1].Width(text); a != b {
				t.Fatalf("%q is %v wide, want %v", text, b, a)
			}
		}
	}
}
