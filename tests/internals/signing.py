"""Internal names of `geolookup/signing` that tests use."""

from geolookup.signing import keys
from geolookup.signing.envelope import (
    LARGEST_ENVELOPE,
    MOST_SIGNATURES,
    open_envelope,
    seal,
)
from geolookup.signing.keys import (
    PrivateKey,
    PublicKey,
    SigningKeys,
    generate,
    has_small_order,
    pem_of,
    read_private,
    read_public,
)
from geolookup.signing.statement import (
    LARGEST_SIGNATURE,
    SIGNATURE,
    Statement,
    read_signature,
    read_statement,
    serial_in,
    serial_of,
    signed_statement,
)
from geolookup.signing.trust import Trust
