package dashboard

import "time"

// Look looks at everything anew, and not once a second.
func (d *Dashboard) Look() snapshot { return d.snapshotAt(time.Now()) }

// Encoded is what a viewer gets.
func (d *Dashboard) Encoded() []byte { return encoded(d.snapshotAt(time.Now())) }
