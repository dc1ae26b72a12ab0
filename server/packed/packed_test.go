package packed

import "testing"

func TestTakes(t *testing.T) {
	for accepted, want := range map[string]bool{
		"br": true, "gzip, br": true, "gzip;q=1.0, BR;q=0.5": true, "br;q=1": true,
		"": false, "gzip": false, "br;q=0": false, "br;q=0.000": false, "brotli": false,
	} {
		if takes(accepted, "br") != want {
			t.Errorf("%q: %v", accepted, !want)
		}
	}
}
