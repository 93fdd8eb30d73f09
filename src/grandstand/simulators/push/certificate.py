"""Kept here: a certificate for this machine alone, made when a simulator starts."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import IPv4Address
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

# The time in a simulated world is anything; the clients that look at these dates use the wall's.
_FROM: Final = datetime(2000, 1, 1, tzinfo=UTC)
_UNTIL: Final = datetime(2100, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Certificate:
    """A key and the certificate that vouches for itself, both as PEM."""

    key: bytes
    certificate: bytes

    @classmethod
    def make(cls) -> Certificate:
        """Answer a new one for 127.0.0.1 and localhost."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "simulated push service")])
        names = [x509.IPAddress(IPv4Address("127.0.0.1")), x509.DNSName("localhost")]
        signed = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(_FROM)
            .not_valid_after(_UNTIL)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .sign(key, hashes.SHA256())
        )
        encoded = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        return cls(encoded, signed.public_bytes(serialization.Encoding.PEM))

    def serving(self) -> ssl.SSLContext:
        """Answer what a server of HTTP/2 listens with."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        # OpenSSL reads a chain from files only.
        with TemporaryDirectory() as folder:
            file = Path(folder, "chain.pem")
            file.touch(mode=0o600)
            file.write_bytes(self.key + self.certificate)
            context.load_cert_chain(file)
        context.set_alpn_protocols(["h2"])
        return context

    def trusting(self) -> ssl.SSLContext:
        """Answer what a client trusts this certificate with, and no other."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(cadata=self.certificate.decode("ascii"))
        return context
